//! Words that say nothing about what a question is about, in English, Spanish and French. A list rather than a count of
//! how many memories have a word: a subject has often two memories, and then every word is rare, or common.

/// Function words, and the verbs with which people ask; of four letters and more, because shorter words count for nothing
/// anyway. Sorted.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "about", "above", "across", "after", "again", "against", "ailleurs", "ainsi", "algo", "alguien", "alguna",
    "algunas", "alguno", "algunos", "algún", "almost", "along", "alors", "already", "also", "although", "always",
    "ambos", "among", "another", "ante", "antes", "anybody", "anyone", "anything", "après", "aquel", "aquella",
    "aquellas", "aquello", "aquellos", "aquí", "around", "asked", "assez", "aucun", "aucune", "aunque", "aussi",
    "autre", "autres", "avaient", "avait", "avant", "avec", "avez", "avoir", "avons", "bajo", "beaucoup", "because",
    "been", "before", "being", "below", "between", "bien", "both", "cada", "came", "cannot", "casi", "cela", "celle",
    "celles", "celui", "cependant", "cette", "ceux", "chaque", "chez", "come", "comes", "comme", "comment", "como",
    "contra", "contre", "could", "cual", "cuales", "cualquier", "cuando", "cuanta", "cuantas", "cuanto", "cuantos",
    "cuál", "cuáles", "cuándo", "cuánta", "cuántas", "cuánto", "cuántos", "cómo", "dans", "debe", "deben", "decir",
    "depuis", "derrière", "desde", "después", "dessous", "dessus", "devant", "devez", "dice", "dicen", "does",
    "doing", "doit", "doivent", "donc", "donde", "done", "dont", "down", "durante", "during", "dónde", "each",
    "either", "ella", "ellas", "elle", "elles", "ello", "ellos", "else", "encore", "enfin", "enough", "entonces",
    "entre", "eran", "eres", "esas", "esos", "esta", "estaba", "estar", "estas", "este", "esto", "estos", "está",
    "están", "even", "ever", "every", "everybody", "everyone", "everything", "faire", "fait", "find", "fois", "font",
    "from", "fueron", "gave", "gets", "getting", "give", "given", "gives", "goes", "going", "gone", "gracias",
    "haber", "había", "hace", "hacen", "hacer", "hacia", "hasta", "have", "having", "hence", "here", "hers", "hors",
    "however", "incluso", "into", "itself", "jamais", "jusque", "just", "keep", "kept", "know", "known", "knows",
    "laquelle", "last", "later", "least", "lequel", "lesquelles", "lesquels", "less", "leur", "leurs", "like",
    "likely", "lors", "lorsque", "luego", "made", "mais", "make", "makes", "making", "many", "maybe", "menos",
    "merci", "mientras", "mieux", "might", "mismo", "moins", "more", "most", "much", "mucha", "muchas", "mucho",
    "muchos", "must", "même", "mêmes", "nada", "nadie", "need", "needed", "needs", "neither", "never", "next",
    "ninguna", "ninguno", "nobody", "none", "nosotros", "nothing", "notre", "nous", "nuestra", "nuestras", "nuestro",
    "nuestros", "nunca", "often", "once", "only", "onto", "other", "others", "otra", "otras", "otro", "otros", "ours",
    "over", "para", "parce", "parfois", "parmi", "pendant", "perhaps", "pero", "peut", "peuvent", "peux", "please",
    "plus", "plusieurs", "plutôt", "poca", "pocas", "poco", "pocos", "podemos", "poder", "podría", "porque", "pour",
    "pourquoi", "pourrait", "pouvez", "pouvons", "presque", "pueda", "puede", "pueden", "puedo", "pues", "puis",
    "puisque", "quand", "quel", "quelle", "quelles", "quelque", "quelques", "quels", "quien", "quienes", "quiere",
    "quieren", "quiero", "quite", "quizás", "quién", "quiénes", "quoi", "rather", "really", "rien", "sabe", "saben",
    "said", "sait", "same", "sans", "sauf", "savent", "savez", "says", "seem", "seems", "seen", "según", "selon",
    "sera", "seront", "será", "serán", "several", "shall", "should", "show", "sido", "siempre", "since", "sino",
    "sinon", "sobre", "soit", "solo", "some", "somebody", "someone", "something", "sometimes", "somewhere", "sommes",
    "somos", "sont", "soon", "sous", "souvent", "still", "such", "suis", "suya", "suyo", "sólo", "take", "taken",
    "también", "tampoco", "tant", "tanto", "tell", "telle", "telles", "tels", "tenemos", "tener", "tengo", "than",
    "that", "their", "theirs", "them", "themselves", "then", "there", "therefore", "these", "they", "thing", "things",
    "think", "this", "those", "though", "through", "thus", "tiene", "tienen", "till", "toda", "todas", "todavía",
    "todo", "todos", "together", "told", "toujours", "tous", "tout", "toute", "toutes", "toward", "towards", "tras",
    "trop", "très", "unas", "under", "unless", "unos", "until", "upon", "used", "uses", "using", "usted", "ustedes",
    "vamos", "varias", "varios", "veces", "vers", "very", "veulent", "veut", "voici", "voilà", "vosotros", "votre",
    "voulez", "voulons", "vous", "vraiment", "want", "wanted", "wants", "well", "went", "were", "what", "whatever",
    "when", "whenever", "where", "wherever", "whether", "which", "whichever", "while", "whoever", "whom", "whose",
    "will", "with", "within", "without", "would", "your", "yours", "étaient", "était", "étant", "êtes", "être",
];

/// Whether a word, in lower case, only holds a sentence together.
pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_in_lower_case() {
        assert!(FUNCTION_WORDS.is_sorted_by(|a, b| a < b));
        assert!(FUNCTION_WORDS.iter().all(|word| word.to_lowercase() == **word && word.chars().count() >= 4));
        assert!(is_function_word("what") && is_function_word("cuándo") && is_function_word("pourquoi"));
        assert!(!is_function_word("invoices") && !is_function_word("trailer"));
    }
}

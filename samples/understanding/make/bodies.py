"""Letters: signatures, quoted history, forwards, HTML of several programs, and the MIME structure around them.

Promise: `Writer.shown` tells whether the telephone stands in the signature, so that the truth claims no more.
"""
from mime import attach, mail, multi, text
from produce import esc, logo
from values import day
from dec_html import columns_of

DISCLAIMERS = [
    "Find us online | Refer a friend | Unsubscribe from our updates", "We are hiring drivers! Ask about our sign-on bonus.", "Office hours Monday to Friday 8-5. Claims after hours: see the back of your card.",
    "Confidential: if you are not the person this was written for, please delete it and tell us.", "Coverage cannot be bound, changed or cancelled by leaving a message here or by e-mail.",
    "This e-mail may hold privileged information. Any review by others is prohibited.", "Please consider the environment before printing.",
    "CAUTION: This email came from outside the organization. Do not click links unless you know the sender.", "Les renseignements contenus dans ce courriel sont confidentiels.",
    "Este mensaje es confidencial y para uso exclusivo del destinatario."]
CLOSING = {"en": ["Thanks,", "Thank you", "Regards,", "Best,", "Thx", "Many thanks", "Kind regards,", "Appreciate it!", "TIA", "Sincerely,", "", "Have a great week,", "Cheers", "-"],
           "es": ["Saludos,", "Gracias,", "Quedo atento.", "Muchas gracias de antemano,", "Atentamente,", "Saludos cordiales"], "fr": ["Merci,", "Cordialement,", "Bien à vous,", "Merci d'avance", "Salutations distinguées,"], "de": ["Mit freundlichen Grüßen", "Viele Grüße", "Besten Dank und Gruß"]}
GREETING = {"en": ["Hi {},", "Hello {},", "{},", "Good morning {},", "Good afternoon,", "Hey {}", "Hi there,", "Dear {},", "To whom it may concern:", "Morning!", "", "Team,", "Hi all -", "{} -"],
            "es": ["Hola {}:", "Buenos días,", "Buenas tardes:", "Estimada {}:", "Estimados:", "Hola,"], "fr": ["Bonjour {},", "Bonjour,", "Madame, Monsieur,", "Salut {},"], "de": ["Guten Tag,", "Sehr geehrte Damen und Herren,", "Hallo {},"]}


class Writer:
    """Who writes: name, mail, org, role, phone, lang."""

    def __init__(s, name, mail, org="", role="", phone="", lang="en"):
        s.name, s.mail, s.org, s.role, s.phone, s.lang, s.shown = name, mail, org, role, phone, lang, False

    def sign(s, r, phone=None):
        """Lines of a signature. The telephone is shown if asked for, else by chance."""
        s.shown = bool(s.phone) and (r.random() < .75 if phone is None else phone)
        tel = r.choice(["", "", "Tel. ", "Ph: ", "P: ", "o: ", "Direct ", "Cell "]) + s.phone if s.shown else ""
        role = s.role if r.random() < .6 else ""
        how = r.choice(["lines", "lines", "pipe", "short", "comma"])
        if how == "pipe":
            return [" | ".join(x for x in (s.name, role, s.org, tel) if x)]
        if how == "short":
            return [x for x in (s.name, s.org, tel) if x]
        if how == "comma":
            return [", ".join(x for x in (s.name, role) if x)] + [x for x in (s.org, tel) if x]
        return [x for x in (s.name, role, s.org, tel, s.mail if r.random() < .4 else "") if x]

    def truth(s, m, where="signature", optional=True):
        m.who(s.name, s.mail, s.phone if s.shown else None, where, optional)


def insured_writer(e):
    return Writer(e.contact, e.mail, e.short, e.role, e.phone, e.lang)


def office_writer(o, r, i=0):
    return Writer(o.people[i][0], o.people[i][1], o.name, r.choice(["Account Manager", "CSR", "Producer", "Broker", "Marketing", ""]), o.phone)


def greet(r, lang, first):
    g = r.choice(GREETING[lang]).format(first)
    return [g] if g else []


def typos(r, s):
    """A hurried hand: a few letters doubled, dropped or swapped in plain words, never in names or numbers."""
    words = s.split(" ")
    for i in r.sample(range(len(words)), min(len(words), 1 + len(words) // 9)):
        w = words[i]
        if len(w) > 4 and w.isalpha() and w.islower():
            k = r.randrange(1, len(w) - 2)
            words[i] = r.choice([w[:k] + w[k + 1] + w[k] + w[k + 2:], w[:k] + w[k + 1:], w[:k] + w[k] + w[k:]])
    return " ".join(words)


def tone(r, paras, lang):
    """Chatty, terse, hurried or as it is."""
    how = r.choice(["as", "as", "as", "lower", "typos"]) if lang == "en" else "as"
    if how == "lower":
        return [p[0].lower() + p[1:] if isinstance(p, str) and p[:2].isalpha() and not p[:2].isupper() and p.split()[0] in ("Please", "Can", "Could", "We", "Need", "The", "My", "Our", "Attached", "Would") else p for p in paras]
    if how == "typos":
        return [typos(r, p) if isinstance(p, str) else p for p in paras]
    return paras


HEADER = {"en": [("From", "Sent", "To", "Subject"), ("From", "Date", "To", "Subject")], "es": [("De", "Enviado", "Para", "Asunto")], "fr": [("De", "Envoyé", "À", "Objet")], "de": [("Von", "Gesendet", "An", "Betreff")]}


def stamp(r, d, lang="en"):
    x = day(d)
    if lang != "en":
        return f"{x.day}/{x.month}/{x.year} {r.randrange(7, 19):02d}:{r.randrange(60):02d}"
    return r.choice([f"{x:%A}, {x:%B} {x.day}, {x.year} {r.randrange(1, 12)}:{r.randrange(10, 60)} {r.choice(['AM', 'PM'])}", f"{x:%a}, {x:%b} {x.day}, {x.year} at {r.randrange(1, 12)}:{r.randrange(10, 60)} {r.choice(['AM', 'PM'])}"])


def header_block(r, frm, to, d, subject, lang="en", how=None):
    """The head that a program writes over an older or forwarded message."""
    how = how or r.choice(["outlook", "gmail", "rule", "apple"])
    k = r.choice(HEADER[lang])
    lines = [f"{k[0]}: {frm}", f"{k[1]}: {stamp(r, d, lang)}", f"{k[2]}: {to}", f"{k[3]}: {subject}"]
    first = {"outlook": {"en": "-----Original Message-----", "es": "-----Mensaje original-----", "fr": "-----Message d'origine-----", "de": "-----Ursprüngliche Nachricht-----"}[lang], "gmail": "---------- Forwarded message ---------", "rule": "_" * 32, "apple": "Begin forwarded message:"}[how]
    return [first] + lines + [""]


def quoted_history(r, w, writer, d, lines, subject, lang="en"):
    """An older message in one of the usual forms."""
    if r.random() < .5:
        x = day(d)
        intro = {"en": f"On {x:%a}, {x:%b} {x.day}, {x.year} at {r.randrange(1, 12)}:{r.randrange(10, 59)} AM {writer} wrote:", "es": f"El {x.day}/{x.month}/{x.year}, {writer} escribió:", "fr": f"Le {x.day}/{x.month}/{x.year}, {writer} a écrit :", "de": f"Am {x.day}.{x.month}.{x.year} schrieb {writer}:"}[lang]
        return [intro] + ["> " + x for x in lines]
    return header_block(r, writer, w.agency.name, d, subject, lang, r.choice(["outlook", "rule"])) + list(lines)


# ---------------------------------------------------------------- plain and HTML
def plain(paras):
    out = []
    for p in paras:
        out += columns_of(p[1], p[2]) if isinstance(p, tuple) else [p]
    return "\n".join(out) + "\n"


def html_table(head, rows, r):
    att = r.choice(["border=1 cellspacing=0 cellpadding=4", 'style="border-collapse:collapse" border="1"', 'cellpadding="6"'])
    th = r.choice(["th", "td"])
    return f"<table {att}><tr>" + "".join(f"<{th}>{esc(h)}</{th}>" for h in head) + "</tr>\n" + "\n".join("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in x) + "</tr>" for x in rows) + "</table>"


def html(r, paras, img=""):
    """The HTML of one of several programs."""
    how = r.choice(["outlook", "gmail", "apple", "br", "news"])
    one = lambda p: html_table(p[1], p[2], r) if isinstance(p, tuple) else None
    if how == "outlook":
        body = "\n".join(one(p) or f'<p class=MsoNormal><span style="font-size:11.0pt">{esc(p) or "&nbsp;"}<o:p></o:p></span></p>' for p in paras)
        return f'<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style><!-- p.MsoNormal {{margin:0in}} --></style><!--[if gte mso 9]><xml></xml><![endif]--></head><body lang=EN-US><div class=WordSection1>\n{body}{img}\n</div></body></html>'
    if how == "gmail":
        return '<div dir="ltr">' + "\n".join(one(p) or f"<div>{esc(p) or '<br>'}</div>" for p in paras) + img + "</div>"
    if how == "apple":
        return '<html><body style="overflow-wrap: break-word;">' + "\n".join(one(p) or f"<div>{esc(p) or '<br>'}</div>" for p in paras) + img + "</body></html>"
    if how == "br":
        return "<html><body><p>" + "<br>\n".join(one(p) or esc(p) for p in paras) + f"</p>{img}</body></html>"
    return '<html><body bgcolor="#eeeeee"><table width="600" align="center" bgcolor="#ffffff"><tr><td style="padding:18px;font-family:Arial">' + "<br>\n".join(one(p) or esc(p) for p in paras) + f"{img}</td></tr></table></body></html>"


STUB = ["This message needs an HTML capable mail program.", "Your email client cannot read HTML.", "View this message in a browser.", " ", "HTML only - sorry!"]


def body_part(r, paras, structure=None):
    """Text, HTML, both, both with a stub, or HTML with a picture beside it."""
    has_table = any(isinstance(p, tuple) for p in paras)
    how = structure or r.choice(["text", "text", "alt", "alt", "html", "stub", "related"] if not has_table else ["html", "alt", "stub", "text"])
    if how == "text":
        return text(r, plain(paras))
    if how == "html":
        return text(r, html(r, paras), "html")
    if how == "stub":
        return multi(r, "alternative", text(r, r.choice(STUB) + "\n"), text(r, html(r, paras), "html"))
    if how == "related":
        cid = f"image00{r.randrange(1, 9)}.png@01D{r.randrange(16**6):06X}"
        img = f'<br><img src="cid:{cid}" width=120>'
        pic = attach(r, "image001.png", logo(r.choice(["Office", "Trucking", "Insurance", "Since 1987"]), (r.randrange(200), r.randrange(160), r.randrange(200))), inline=cid)
        return multi(r, "related", text(r, html(r, paras, img), "html"), pic)
    return multi(r, "alternative", text(r, plain(paras)), text(r, html(r, paras), "html"))


def letter(r, w, writer, d, subject, paras, files=(), history=(), above=False, to=None, sign=True, structure=None, extra=(), parts=(), auth="pass", ret=None, minutes=None):
    """A whole mail. paras: lines, or ("table", head, rows); files: (name, data) or (name, data, type); history: older lines."""
    lines = list(paras)
    if sign:
        close = r.choice(CLOSING.get(writer.lang, CLOSING["en"]))
        lines += [""] + ([close] if close else []) + writer.sign(r, True if sign == "phone" else None)
    x = r.random()
    if x < .12:
        lines += ["", r.choice(["-- ", "", "___"]), r.choice(DISCLAIMERS)]
    elif x < .2:
        lines += ["", r.choice(["Sent from my iPhone", "Sent from my Galaxy", "Get Outlook for Android"])]
    if history:
        lines = list(history) + [""] + lines if above else lines + [""] + list(history)
    part = body_part(r, lines, structure)
    more = [attach(r, *f) for f in files] + list(parts)
    if more:
        part = multi(r, "mixed", part, *more)
    a = w.agency
    to = to or r.choice([(a.name, a.box), a.people[0], ("", a.box), a.people[1]])
    return mail(r, (writer.name if r.random() < .9 else "", writer.mail) if writer.name in str(lines) else (writer.name, writer.mail), to, subject, d, part, extra, auth, ret, a.domain, minutes)

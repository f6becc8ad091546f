//! Whose a value is, and names that nobody labelled.

use serde_json::Value;

use super::rental::{plain, read};

#[tokio::test]
async fn a_telephone_belongs_to_the_party_named_last_before_it() {
    for text in [
        "Dealer: Corner Lot Motors\nPhone: (512) 555-0100\n\nClient: Fern Hollow Rentals\nPhone: (512) 555-0171",
        "Client: Fern Hollow Rentals\nPhone: (512) 555-0171\n\nDealer: Corner Lot Motors\nPhone: (512) 555-0100",
        "DEALER                CLIENT\nCorner Lot Motors     Fern Hollow Rentals\nTel (512) 555-0100    Tel (512) 555-0171",
        "Corner Lot Dealership\nTel (512) 555-0100\n\nClient: Fern Hollow Rentals\nTel (512) 555-0171",
    ] {
        assert_eq!(plain(text, "client.phone").await, ["5125550171"], "{text}");
        assert_eq!(plain(text, "dealer.phone").await, ["5125550100"], "{text}");
    }
}

#[tokio::test]
async fn another_partys_telephone_is_not_the_clients() {
    let text = "Client: Fern Hollow Rentals\n\nDealer: Corner Lot Motors\nPhone: (512) 555-0100";
    assert!(plain(text, "client.phone").await.is_empty());
    let bare = "Client: Fern Hollow Rentals\n\nDealer: Corner Lot Motors, (512) 555-0100";
    assert!(plain(bare, "client.phone").await.is_empty());
}

#[tokio::test]
async fn a_name_is_known_by_its_words() {
    let paper = "LARCH LEASING COMPANY\nRental contract\n\nContract Number: LX-4401\nClient: Fern Hollow Rentals";
    assert_eq!(plain(paper, "lessor").await, ["LARCH LEASING COMPANY"]);
    let sentence = "Contract Number: LX-4401\n\nThe car is on loan from Larch Leasing Company, of Waco.";
    assert_eq!(plain(sentence, "lessor").await, ["Larch Leasing Company"]);
    // A word that speaks against it.
    let agency = "LARCH LEASING COMPANY AGENCY\n\nContract Number: LX-4401";
    assert!(plain(agency, "lessor").await.is_empty());
}

#[tokio::test]
async fn what_may_be_anybodys_is_the_writers_in_a_message() {
    let text = "Please call.\n\nPhone: (512) 555-0171\nEmail: ada@fern.example";
    for (number, whose) in [(0, "writer"), (1, "client")] {
        let found = read(number, text).await;
        let names: Vec<&str> = found.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, [format!("{whose}.phone"), format!("{whose}.email")], "document {number}");
    }
    let bare = read(0, "Please call.\n\nAda Example, ada@fern.example, (512) 555-0171").await;
    let names: Vec<&str> = bare.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["writer.email", "writer.phone"]);
}

#[tokio::test]
async fn a_number_behind_words_that_say_whose_it_is_is_nobodys() {
    let text = "Client: Fern Hollow Rentals\nReport accidents at any hour: (512) 555-0144";
    assert!(plain(text, "client.phone").await.is_empty());
    assert_eq!(plain("Client: Fern Hollow Rentals\nOffice: (512) 555-0144", "client.phone").await, ["5125550144"]);
}

#[tokio::test]
async fn another_party_beneath_a_name_is_not_its_owner() {
    let form = "Begin\n05/01/2025\nEnd\n05/01/2026\n\nClient   Fern Hollow Rentals   Begin\n         Pueblo, CO 81003      05/01/2025\nDealer Oak Bend Motors, MC 654321\nContract LX-4401";
    assert_eq!(plain(form, "dealer.name").await, ["Oak Bend Motors"]);
    assert_eq!(plain("Client\nDealer Oak Bend Motors", "client.name").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_name_in_brackets_is_one() {
    assert_eq!(plain("We (Fern Hollow Inc., USDOT 9228815) need a car.", "client.name").await, ["Fern Hollow Inc."]);
}

#[tokio::test]
async fn the_other_party_of_and_is_not_the_one_before_it() {
    let text = "PAYABLE TO OUR CLIENT AND COBBLESTONE COMMERCIAL BANK";
    assert_eq!(plain(text, "client.name").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_label_does_not_give_a_name_away_that_its_words_give_to_another() {
    assert_eq!(plain("Dealer: Elm Leasing Company", "dealer.name").await, Vec::<Value>::new());
    assert_eq!(plain("Dealer: Fern Hollow Motors", "dealer.name").await, ["Fern Hollow Motors"]);
}

#[tokio::test]
async fn a_label_may_stand_at_the_middle_of_a_name_with_its_address() {
    let form = "Contract Number :   LX-4401\n                    Fern Hollow Rentals\nClient :            82 Mill Ct Ste 2\n                    Pueblo, CO 81003";
    assert_eq!(plain(form, "client.name").await, ["Fern Hollow Rentals"]);
    assert_eq!(plain("Client :   82 Mill Ct Ste 2", "client.name").await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_contact_of_a_party_known_by_its_words_writes_nothing() {
    let theirs = "Corner Lot Dealership\n12 Mill Row\n\nCONTACT: Ada Example\n\nClient: Fern Hollow Rentals";
    assert!(plain(theirs, "writer.name").await.is_empty());
    let ours = "Corner Lot Dealership\n\nClient: Fern Hollow Rentals\n\nCONTACT: Ada Example";
    assert_eq!(plain(ours, "writer.name").await, ["Ada Example"]);
}

#[tokio::test]
async fn a_number_behind_another_partys_name_is_not_the_clients() {
    let text = "Dealer: Corner Lot Motors, MC 123456\nClient: Fern Hollow Rentals, MC 654321";
    assert_eq!(plain(text, "client.mc").await, ["654321"]);
    let table = "Dealer      Corner Lot Motors, MC 123456\nClient      Fern Hollow Rentals, MC 654321";
    assert_eq!(plain(table, "client.mc").await, ["654321"]);
    let row = "Dealer: Corner Lot Motors    MC: 654321";
    assert_eq!(plain(row, "client.mc").await, ["654321"], "a cell of its own is of the whole paper");
}

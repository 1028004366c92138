//! Lists of people as written.

use super::inverted::{Order, chained, inverted, is_complete};
use super::name::{Name, People};
use super::name_word::{is_degree, is_initials, is_suffix};
use super::organisation::{
    begins_as_organisation, is_companion, is_company_form, is_organisation, names_a_field,
};
use super::pieces::{Piece, pieces};
use super::remark::{stands_for_others, without_others, without_remarks};

/// The people in a list: `A. Cau, R. Kuiper, and W.-P. de Roever`, `Romero, C., & Dweck, C.`,
/// `Smith JK, Doe A`, `Liu, Bing; Wang, Chao`, `王明、李雷`, `Smith et al.`
pub fn people(list: &str) -> People {
    let (list, rest, others) = without_others(&without_remarks(list));
    let mut people = People { names: Vec::new(), others };
    let groups = groups(&list);
    for group in &groups {
        let pieces = pieces(group);
        match &pieces[..] {
            [family, given]
                if groups.len() > 1
                    && given.comma
                    && !is_suffix(given.text)
                    && !is_company_form(given.text)
                    && !is_complete(family.text, given.text) =>
            {
                people.names.extend(Name::inverted(family.text, given.text));
            }
            _ => assemble(group, &pieces, &mut people),
        }
    }
    // `A. Li et al. (NuTeV Collaboration)`
    people.names.extend(rest.filter(|rest| is_organisation(rest)).and_then(|r| Name::whole(&r)));
    drop_final_stop(&mut people.names);
    people
}

/// The stop behind `Patel R, O'Brien S.` ends the list, not the initial.
fn drop_final_stop(names: &mut [Name]) {
    let Some((last, before)) = names.split_last_mut() else { return };
    let is_bare = |name: &Name| is_initials(&name.given) && !name.given.contains('.');
    let mut others = before.iter().filter(|name| !name.given.is_empty()).peekable();
    if others.peek().is_some() && others.all(is_bare) && is_initials(&last.given) {
        last.given.truncate(last.given.trim_end_matches('.').len());
    }
}

/// The parts between marks that only separate names: `Liu, Bing; Wang, Chao`, `Doe, J. / Roe, K.`
fn groups(list: &str) -> Vec<&str> {
    // A point between names has space around it; one inside a name, `卡尔·马克思`, has none.
    let groups = list.split([';', '；', '、']).flat_map(|group| group.split(" · "));
    let is_small = |text: &str| text.contains(char::is_lowercase) || text.ends_with(['.', ' ']);
    let mut parted: Vec<&str> = Vec::new();
    for group in groups {
        let mut start = 0;
        for (at, _) in group.match_indices('/') {
            let (before, after) = (&group[start..at], &group[at + 1..]);
            // `NIST/SEMATECH` and `and/or` are one word.
            let [last, first] = [before.rsplit(' ').next(), after.split([' ', '/']).next()];
            let is_word = last == Some("and")
                || [last, first].iter().flatten().all(|half| !half.is_empty() && !is_small(half));
            if !is_word {
                parted.push(before);
                start = at + 1;
            }
        }
        parted.push(&group[start..]);
    }
    parted.retain(|group| !group.trim().is_empty());
    parted
}

/// Whether text between names says that there are others.
pub(crate) fn says_others(text: &str) -> bool {
    without_others(&text.split_whitespace().collect::<Vec<_>>().join(" ")).2
}

fn assemble(list: &str, pieces: &[Piece], people: &mut People) {
    let mut order = Order::of(pieces);
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        if is_suffix(piece.text) {
            let name = people.names.pop().map(|name| name.with_suffix(piece.text));
            people.names.extend(name);
            at += 1;
        } else if is_degree(piece.text) && !people.names.is_empty() {
            at += 1;
        } else if !piece.comma && stands_for_others(piece.text) {
            people.others = true;
            at += 1;
        } else if let Some(end) = company(pieces, at).or_else(|| organisation(list, pieces, at)) {
            people.names.extend(Name::whole(&list[piece.start..pieces[end - 1].end()]));
            at = end;
        } else if let Some((names, end)) = chained(pieces, at) {
            people.names.extend(names);
            at = end;
        } else if let Some((name, end)) = inverted(pieces, at, &order) {
            people.names.extend(name);
            at = end;
        } else {
            order.is_direct |= !piece.is_one_word();
            people.names.extend(Name::of_words(piece.text));
            at += 1;
        }
    }
}

/// The end of a company's name that starts at a piece, if its form follows a comma: `Apple, Inc.`,
/// `Barnes and Noble, Inc.`
fn company(pieces: &[Piece], at: usize) -> Option<usize> {
    let is_form = |at: usize| pieces.get(at).is_some_and(|p| p.comma && is_company_form(p.text));
    let is_pair = pieces[at].is_one_word()
        && pieces.get(at + 1).is_some_and(|next| !next.comma && next.is_one_word());
    match (is_form(at + 1), is_pair && is_form(at + 2)) {
        (true, _) => Some(at + 2),
        (false, true) => Some(at + 3),
        (false, false) => None,
    }
}

/// The end of an organisation's name that starts at a piece, if one does.
fn organisation(list: &str, pieces: &[Piece], at: usize) -> Option<usize> {
    let has_and = |at: usize| pieces.get(at).is_some_and(|piece| !piece.comma);
    let piece = |at: usize| pieces.get(at);
    let mut end = at + 1;
    if !is_organisation(pieces[at].text) {
        // `Bill and Melinda Gates Foundation`, `US Fish and Wildlife Service`
        let called_so = begins_as_organisation(pieces[at].text);
        let is_half = pieces[at].is_one_word() && pieces[at].text.contains(char::is_lowercase);
        let next = piece(end).filter(|next| (is_half || called_so) && !next.comma)?;
        let both = &list[pieces[at].start..next.end()];
        // `McKinsey & Company`
        if is_companion(next.text) {
            return Some(end + 1);
        }
        let is_whole = is_organisation(next.text) || called_so && is_organisation(both);
        if !is_whole || next.text.starts_with("The ") {
            return None;
        }
        end += 1;
    }
    if names_a_field(pieces[end - 1].text) {
        // `Ministry of Health, Labour and Welfare`
        let plain = |piece: &&Piece| {
            !piece.has_initials() && !is_organisation(piece.text) && !is_suffix(piece.text)
        };
        let fields = pieces[end..].iter().take_while(|p| p.comma && p.is_one_word() && plain(p));
        let last = end + fields.count();
        // `Department of Health and Smith, J.`
        let is_person =
            piece(last + 1).is_some_and(|next| next.comma && !is_organisation(next.text));
        if has_and(last) && piece(last).as_ref().is_some_and(plain) && !is_person {
            end = last + 1;
        }
    }
    // Its place: `World Health Organization, Geneva`
    let is_place = |piece: &Piece| piece.comma && piece.is_one_word() && !piece.has_initials();
    if end + 1 == pieces.len() && is_place(&pieces[end]) && !is_suffix(pieces[end].text) {
        end += 1;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `family|given` of each, with `particle` and `suffix` beside the family name; `{whole}`.
    fn read(list: &str) -> String {
        let people = people(list);
        let shown = |name: &Name| {
            if name.is_whole {
                return format!("{{{}}}", name.family);
            }
            let family = format!("{} {} {}", name.particle, name.family, name.suffix);
            format!("{}|{}", family.trim(), name.given)
        };
        let mut names: Vec<String> = people.names.iter().map(shown).collect();
        names.extend(people.others.then(|| "others".to_string()));
        names.join("; ")
    }

    fn check(cases: &[(&str, &str)]) {
        for (list, expected) in cases {
            assert_eq!(read(list), *expected, "{list}");
        }
    }

    #[test]
    fn lists_are_read_as_styles_write_them() {
        check(&[
            ("A. Cau, R. Kuiper, and W.-P. de Roever.", "Cau|A.; Kuiper|R.; de Roever|W.-P."),
            ("Romero, C., Paunesku, D., & Dweck, C.", "Romero|C.; Paunesku|D.; Dweck|C."),
            ("Patel RK, Nguyen TH, O'Brien S.", "Patel|RK; Nguyen|TH; O'Brien|S"),
            ("Heidegger M.,", "Heidegger|M."),
            ("Smith JK, Doe A", "Smith|JK; Doe|A"),
            ("Smith, John and Doe, Jane", "Smith|John; Doe|Jane"),
            ("Smith, John, Jane Doe, and Mark Lee", "Smith|John; Doe|Jane; Lee|Mark"),
            ("Liu, Bing; Wang, Chao M.", "Liu|Bing; Wang|Chao M."),
            (
                "Phillip Colella, Milo R. Dorr, and Daniel F. Martin.",
                "Colella|Phillip; Dorr|Milo R.; Martin|Daniel F.",
            ),
            (
                "van den Bosch F. C., De Lucia G., Mo H. J.",
                "van den Bosch|F. C.; De Lucia|G.; Mo|H. J.",
            ),
            ("P´erez-Gonz´alez P. G. et al.,", "Pérez-González|P. G.; others"),
            ("T. Jacobson et L. Smolin", "Jacobson|T.; Smolin|L."),
            (
                "In C. B. Jones, R. C. Shaw, and T. Denvir, editors,",
                "Jones|C. B.; Shaw|R. C.; Denvir|T.",
            ),
            ("edited by J. Diaz (Eds.)", "Diaz|J."),
            ("Шевченко, Т. Г.", "Шевченко|Т. Г."),
            ("von Neumann, J.", "von Neumann|J."),
            ("John Smith · Jane Doe", "Smith|John; Doe|Jane"),
            ("Smith ET, Petrov IV, Doe A", "Smith|ET; Petrov|IV; Doe|A"),
            ("Plato", "Plato|"),
            ("", ""),
            ("et al.", "others"),
            (", , &", ""),
        ]);
    }

    #[test]
    fn names_stand_between_marks_and_words_of_many_languages() {
        check(&[
            ("Smith J, Doe K; XYZ Study Group", "Smith|J; Doe|K; {XYZ Study Group}"),
            ("Müller, H. / Schmidt, K.", "Müller|H.; Schmidt|K."),
            ("Müller, H./Schmidt, Karl", "Müller|H.; Schmidt|Karl"),
            ("Hans Müller/Karl Schmidt", "Müller|Hans; Schmidt|Karl"),
            ("NIST/SEMATECH", "{NIST/SEMATECH}"),
            ("Mario Rossi e Luigi Verdi", "Rossi|Mario; Verdi|Luigi"),
            ("Rossi, M., Bianchi, G. e Verdi, L.", "Rossi|M.; Bianchi|G.; Verdi|L."),
            ("Rossi M. e Verdi L.", "Rossi|M.; Verdi|L."),
            ("Иванов И. И. и Петров П. П.", "Иванов|И. И.; Петров|П. П."),
            ("Kowalski J. i Nowak A.", "Kowalski|J.; Nowak|A."),
            ("Prat i Soler, J.", "Prat i Soler|J."),
        ]);
    }

    #[test]
    fn short_words_may_be_of_family_names() {
        check(&[
            ("'t Hooft, G.", "'t Hooft|G."),
            ("G. 't Hooft and M. Veltman", "'t Hooft|G.; Veltman|M."),
            ("’t Hooft G", "’t Hooft|G"),
            ("DE LA CRUZ, M. and LE GOFF, J.", "DE LA CRUZ|M.; LE GOFF|J."),
            ("LE GOFF J", "LE GOFF|J"),
            ("Ó Murchú, S.", "Ó Murchú|S."),
            ("Seán Ó Murchú and Nuala Ní Dhomhnaill", "Ó Murchú|Seán; Ní Dhomhnaill|Nuala"),
            ("E, Weinan, and Engquist, Bjorn", "E|Weinan; Engquist|Bjorn"),
            ("E, W.", "E|W."),
            ("O, Y., & Li, X.", "O|Y.; Li|X."),
        ]);
    }

    #[test]
    fn family_names_of_several_words_have_their_first_names() {
        check(&[
            ("Le Goff, Jacques", "Le Goff|Jacques"),
            ("Van Rossum, Guido", "Van Rossum|Guido"),
            ("Van Morrison, Eric Clapton", "Morrison|Van; Clapton|Eric"),
            ("Mac Lane, Saunders, and Birkhoff, Garrett", "Mac Lane|Saunders; Birkhoff|Garrett"),
            ("St. John, Oliver", "St. John|Oliver"),
            (
                "García Márquez, Gabriel José and Vargas Llosa, Mario",
                "García Márquez|Gabriel José; Vargas Llosa|Mario",
            ),
            ("Ramón y Cajal, S. and Pérez, J.", "Ramón y Cajal|S.; Pérez|J."),
            ("García, Juan y López, Ana", "García|Juan; López|Ana"),
            ("Juan García y Ana López", "García|Juan; López|Ana"),
            ("K.-T. von und zu Guttenberg", "von und zu Guttenberg|K.-T."),
            ("Oppenheimer, J. Robert, and Bohr, Niels", "Oppenheimer|J. Robert; Bohr|Niels"),
            ("Waals, J. D. van der, & Kamp, P.", "van der Waals|J. D.; Kamp|P."),
            ("A. Li, Plato, J. Robert", "Li|A.; Plato|; Robert|J."),
            ("Plato, J. Robert, A. Li", "Plato|; Robert|J.; Li|A."),
        ]);
    }

    #[test]
    fn initials_stay_with_the_family_name_before_them() {
        check(&[
            ("Rowan, D. Hartley, K. Tanner, T.", "Rowan|D.; Hartley|K.; Tanner|T."),
            ("Rowan, D. B. Hartley, K. and Tanner, T.", "Rowan|D. B.; Hartley|K.; Tanner|T."),
            ("Rowan, D. Hartley Smith, K.", "Rowan|D.; Hartley Smith|K."),
            ("Rowan, D. van der Berg, K.", "Rowan|D.; van der Berg|K."),
            ("Rowan, D., Hartley, K., Tanner, T.", "Rowan|D.; Hartley|K.; Tanner|T."),
        ]);
    }

    #[test]
    fn a_family_name_may_have_three_first_names() {
        check(&[
            ("Silva, Helena Maria Barbosa", "Silva|Helena Maria Barbosa"),
            (
                "Silva, Helena Maria Barbosa; Costa, Ana Rita Pires",
                "Silva|Helena Maria Barbosa; Costa|Ana Rita Pires",
            ),
            ("Smith, John, Jane Doe, and Mark Lee", "Smith|John; Doe|Jane; Lee|Mark"),
        ]);
    }

    #[test]
    fn remarks_of_other_languages_are_no_names() {
        check(&[
            ("Müller, H. (Hrsg.):", "Müller|H."),
            ("Jean Dupont (dir.),", "Dupont|Jean"),
            ("Jean Dupont et Anne Petit (éds),", "Dupont|Jean; Petit|Anne"),
            ("sous la direction de Jean Dupont", "Dupont|Jean"),
            ("Boudon R., Bulle N. (sous la dir.),", "Boudon|R.; Bulle|N."),
            ("Lisý, Ján a kol.", "Lisý|Ján; others"),
            ("Silva, Ana (org.)", "Silva|Ana"),
            ("Pérez, Juan (coord.)", "Pérez|Juan"),
        ]);
    }

    #[test]
    fn capitals_are_no_initials_where_a_family_name_must_be() {
        check(&[
            ("XU, B., LI, Y., and HO, C.", "XU|B.; LI|Y.; HO|C."),
            ("NG, ANDREW", "NG|ANDREW"),
            ("LI Y, WU X", "LI|Y; WU|X"),
            ("DUPONT, J. ET DURAND, M.", "DUPONT|J.; DURAND|M."),
        ]);
    }

    #[test]
    fn suffixes_and_degrees_are_no_people() {
        check(&[
            ("Smith, J., Jr., and King, M. L.", "Smith Jr.|J.; King|M. L."),
            ("King Jr., M. L.", "King Jr.|M. L."),
            ("Smith II, John", "Smith II|John"),
            ("King, Jr., Martin Luther", "King Jr.|Martin Luther"),
            ("Sammy Davis, Jr. and Dean Martin", "Davis Jr.|Sammy; Martin|Dean"),
            ("John Smith, MD, PhD, and Jane Doe, MD", "Smith|John; Doe|Jane"),
            ("Doe, MD", "Doe|MD"),
        ]);
    }

    #[test]
    fn others_may_stand_anywhere() {
        check(&[
            ("A. Smith, B. Jones, ... , Z. Last", "Smith|A.; Jones|B.; Last|Z.; others"),
            ("Smith, J., and 12 others", "Smith|J.; others"),
            ("A. Li et al. (NuTeV Collaboration)", "Li|A.; {NuTeV Collaboration}; others"),
        ]);
    }

    #[test]
    fn names_without_parts_stay_whole() {
        check(&[
            ("王明、李雷", "{王明}; {李雷}"),
            ("王明, 李雷", "{王明}; {李雷}"),
            ("卡尔·马克思", "{卡尔·马克思}"),
            ("Marcel·la Puig", "Puig|Marcel·la"),
            ("World Health Organization", "{World Health Organization}"),
            ("UNESCO and World Bank", "{UNESCO}; {World Bank}"),
            (
                "Institute of Electrical and Electronics Engineers",
                "{Institute of Electrical and Electronics Engineers}",
            ),
            ("Ministry of Health, Labour and Welfare", "{Ministry of Health, Labour and Welfare}"),
            (
                "Centers for Disease Control and Prevention (CDC)",
                "{Centers for Disease Control and Prevention}",
            ),
            ("World Health Organization (WHO)", "{World Health Organization}"),
            ("Office for National Statistics (UK).", "{Office for National Statistics (UK)}"),
            (
                "National Institute for Health and Care Excellence (UK).",
                "{National Institute for Health and Care Excellence (UK)}",
            ),
            ("Ernst & Young LLP", "{Ernst & Young LLP}"),
            ("McKinsey & Company", "{McKinsey & Company}"),
            ("Bill and Melinda Gates Foundation", "{Bill and Melinda Gates Foundation}"),
            ("The ATLAS Collaboration, Aad, G.", "{The ATLAS Collaboration}; Aad|G."),
            ("Wolfram Research, Inc.", "{Wolfram Research, Inc.}"),
            ("Apple, Inc.; Li, A.", "{Apple, Inc.}; Li|A."),
            ("Barnes and Noble, Inc.", "{Barnes and Noble, Inc.}"),
            ("Ann Roe, Bo Doe, and Apple, Inc.", "Roe|Ann; Doe|Bo; {Apple, Inc.}"),
            ("Acme Widgets, Ltd., and Foo Bar, LLC.", "{Acme Widgets, Ltd.}; {Foo Bar, LLC}"),
            (
                "Department of Health and Human Services, Centers for Disease Control and Prevention",
                "{Department of Health and Human Services}; \
                 {Centers for Disease Control and Prevention}",
            ),
            ("University of Oxford and Smith, J.", "{University of Oxford}; Smith|J."),
            (
                "National Oceanic and Atmospheric Administration",
                "{National Oceanic and Atmospheric Administration}",
            ),
            ("US Fish and Wildlife Service", "{US Fish and Wildlife Service}"),
            (
                "Food and Agriculture Organization of the United Nations",
                "{Food and Agriculture Organization of the United Nations}",
            ),
            (
                "World Commission on Environment and Development",
                "{World Commission on Environment and Development}",
            ),
            ("John Smith and World Bank", "Smith|John; {World Bank}"),
        ]);
    }
}

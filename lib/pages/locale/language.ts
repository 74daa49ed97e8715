/** The languages of the site by their tags (BCP 47), the usual one first. */
export const LANGUAGES = ["en", "sv"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The languages by their own names. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", sv: "Svenska" };

let readLanguage: () => Language = () => LANGUAGES[0];

/** The language of the reader: on the server that of the request, in a browser that of its page; outside of both English. */
export function currentLanguage(): Language {
  return readLanguage();
}

/** Says where the reader's language is read. Each side calls it once: the server, and each page in its browser. */
export function readLanguageFrom(source: () => Language): void {
  readLanguage = source;
}

/** A table in each language. The English one says which sentences there are. */
type Tables<Table> = { readonly en: Table } & Readonly<Record<Language, NoInfer<Table>>>;

/**
 * A table of sentences in the reader's language: each access reads the table of {@linkcode currentLanguage}. So no member
 * may be read before a request or a page is there, such as in a constant of a module.
 */
// @__NO_SIDE_EFFECTS__
export function inLanguage<Table extends object>(tables: Tables<Table>): Table {
  const { en } = tables;
  // In the scripts of a page, every language's table is that of the page's language.
  if (LANGUAGES.every((language) => tables[language] === en)) return en;
  const table = {};
  for (const name of Object.keys(en)) {
    Object.defineProperty(table, name, {
      enumerable: true,
      get: () => Reflect.get(tables[readLanguage()], name),
    });
  }
  return Object.freeze(table) as Table;
}

import { currentLanguage, LANGUAGES } from "@/lib/presentation/locale/language.ts";

/**
 * The languages in which a reader reads texts that are not ours, the best first: those of the browser, behind the site's
 * where the reader has chosen another one than the browser prefers.
 *
 * @param preferred the languages of the browser (BCP 47)
 */
export function readerLanguages(preferred: readonly string[]): readonly string[] {
  const primary = preferred.map((tag) => tag.toLowerCase().split("-", 1)[0]);
  const usual = LANGUAGES.toSorted((a, b) => placeOf(a, primary) - placeOf(b, primary))[0];
  return usual === currentLanguage() ? preferred : [currentLanguage(), ...preferred];
}

function placeOf(language: string, languages: readonly string[]): number {
  const place = languages.indexOf(language);
  return place < 0 ? languages.length : place;
}

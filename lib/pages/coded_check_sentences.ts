import { inLanguage } from "@/lib/pages/locale/language.ts";
import { isKeyOf, member, stringAt } from "@/lib/std/untrusted.ts";
import { filled, paramsOf } from "./coded_sentences.ts";
import * as en from "@/locales/en/storage_fixity.ts";
import * as sv from "@/locales/sv/storage_fixity.ts";

/** The sentences of all codes; pages with scripts of their own load those of tasks alone. */
export const ALL_SENTENCES = inLanguage({ en: en.ALL_CODED, sv: sv.ALL_CODED });
const INVALID = inLanguage({ en: en.INVALID_FIELDS, sv: sv.INVALID_FIELDS });

/** Why a field of a request is invalid, by an entry of a 422 response; "" for anything else. */
export function invalidText(entry: unknown): string {
  const type = stringAt(entry, "type") ?? "";
  const text = stringAt(entry, "msg") ?? "";
  return isKeyOf(INVALID, type) ? filled(INVALID[type], paramsOf(member(entry, "ctx"))) : text;
}

/** Why a form was taken for one of another site, by the code in the address of the login page; null for other codes. */
export function foreignOriginSentence(code: string | null): string | null {
  return code === "origin_scheme" || code === "origin_host" ? ALL_SENTENCES[code] : null;
}

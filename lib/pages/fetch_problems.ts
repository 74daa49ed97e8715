import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/fetch_problems.ts";
import * as sv from "@/locales/sv/fetch_problems.ts";

/**
 * Why a file could not be read: a status of HTTP, or what happened before there was a whole response. `blocked`: the browser
 * blocks its address of http, and https has failed.
 */
export type FetchProblem = number | "unreachable" | "slow" | "too large" | "blocked";

/** Names of files, capitalized for the start of a sentence. */
export const FILE_NAMES = inLanguage({ en: en.FILE_NAMES, sv: sv.FILE_NAMES });

/** A file as sentences name it. */
interface NamedFile {
  /** One of {@linkcode FILE_NAMES}. */
  readonly name: string;
  /** Whether it is one of this site's results, so that the site's login counts. */
  readonly isOurs: boolean;
  /** Whole sentences in place of the usual ones. */
  readonly own?: Readonly<Partial<Record<FetchProblem, string>>>;
}

/** Says why a file could not be read, and what to do. */
export function fetchProblemSentence(problem: FetchProblem, { name, isOurs, own = {} }: NamedFile): string {
  const ofSite: Sentences = isOurs ? OUR_FILE : OTHER_FILE;
  const ofAny: Sentences = ANY_FILE;
  const sentence = ofSite[problem] ?? ofAny[problem];
  return own[problem] ?? sentence?.(name) ?? otherStatus(name, Number(problem));
}

type Sentences = Readonly<Partial<Record<FetchProblem, (file: string) => string>>>;

const ANY_FILE = inLanguage({ en: en.ANY_FILE, sv: sv.ANY_FILE });
const OUR_FILE = inLanguage({ en: en.OUR_FILE, sv: sv.OUR_FILE });
const OTHER_FILE = inLanguage({ en: en.OTHER_FILE, sv: sv.OTHER_FILE });
const OTHER_STATUS = inLanguage({ en: en.OTHER_STATUS, sv: sv.OTHER_STATUS });

function otherStatus(name: string, status: number): string {
  return status >= 500 ? OTHER_STATUS.ofServer(name, status) : OTHER_STATUS.ofRequest(name, status);
}

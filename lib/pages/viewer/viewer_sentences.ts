import type { AltoProblem } from "@/lib/pages/alto/read_alto.ts";
import type { Canvas } from "@/lib/pages/iiif/manifest.ts";
import type { ManifestProblem } from "@/lib/pages/iiif/read_manifest.ts";
import { type FetchProblem, fetchProblemSentence, FILE_NAMES } from "@/lib/pages/fetch_problems.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { isKeyOf } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/viewer.ts";
import * as sv from "@/locales/sv/viewer.ts";

export const VIEWER_SENTENCES = inLanguage({ en: en.VIEWER_SENTENCES, sv: sv.VIEWER_SENTENCES });
export const VIEWER_LABELS = inLanguage({ en: en.VIEWER_LABELS, sv: sv.VIEWER_LABELS });
export const SEARCH_WORDS = inLanguage({ en: en.SEARCH_WORDS, sv: sv.SEARCH_WORDS });
export const VIEWER_KEY_WORDS = inLanguage({ en: en.VIEWER_KEY_WORDS, sv: sv.VIEWER_KEY_WORDS });
const NO_IMAGE = inLanguage({ en: en.NO_IMAGE, sv: sv.NO_IMAGE });
const NO_MANIFEST = inLanguage({ en: en.NO_MANIFEST, sv: sv.NO_MANIFEST });
const NO_TEXT = inLanguage({ en: en.NO_TEXT, sv: sv.NO_TEXT });

/** Why the manifest viewer shows no manifest. */
export type ViewerProblem = FetchProblem | ManifestProblem | "none named" | "refused address" | "not JSON";

/**
 * Says why a page has no text.
 *
 * @param reason the worker's own; null: the run does not say; undefined: nothing is known of a run
 */
export function noTextSentence(reason: string | null | undefined): string {
  if (reason === undefined) return VIEWER_SENTENCES.noText;
  return reason === null ? VIEWER_SENTENCES.pageNotRead : VIEWER_LABELS.pageFailed(reason);
}

/** Says why a page has no image. */
export function noImageSentence({ isReadable, otherMedia }: Pick<Canvas, "isReadable" | "otherMedia">): string {
  if (!isReadable) return NO_IMAGE.unreadable;
  const medium = (["audio", "video", "3D"] as const).find((medium) => otherMedia.includes(medium));
  return NO_IMAGE[medium ?? "none"];
}

/**
 * Says why a manifest is not shown, and what to do.
 *
 * @param isOurs whether the file is one of this site's results, so that the site's login counts
 */
export function viewerProblemSentence(problem: ViewerProblem, isOurs: boolean): string {
  if (isKeyOf(NO_MANIFEST, problem)) return NO_MANIFEST[problem];
  return fetchProblemSentence(problem, {
    name: FILE_NAMES.manifest,
    isOurs,
    own: { "too large": VIEWER_SENTENCES.tooLarge },
  });
}

/** Why the text of a page is not shown. */
export type TextProblem = FetchProblem | AltoProblem;

/**
 * Says why the text of a page is not shown, and what to do.
 *
 * @param isOurs as for {@linkcode viewerProblemSentence}
 */
export function textProblemSentence(problem: TextProblem, isOurs: boolean): string {
  return isKeyOf(NO_TEXT, problem)
    ? NO_TEXT[problem]
    : fetchProblemSentence(problem, { name: FILE_NAMES.pageText, isOurs });
}

import { counted } from "@/lib/pages/locale/figures.ts";

/** The sentences of the page that shows the text of one page. */
export const PAGE_TEXT_SENTENCES = {
  noPageNamed: "No page is named: open one from the log of its volume.",
  readingPage: "Reading the page…",
  pageNeedsScripts: "The viewer needs scripts; the raw file does not.",
  noTextLines: "The file has no lines of text.",
  noFile: "There is no file at this address. The page was not processed yet or could not be read.",
  textCopied: "copied",
  textNotCopied: "the browser did not allow copying",
  xmlShortened: "The end of this file is left out; the raw file has it.",
};

/** The words of its headings, controls and figures. */
export const PAGE_TEXT_LABELS = {
  pageText: "Page text",
  toReadPages: "to read pages.",
  copyText: "Copy text",
  showXml: "Show XML",
  seeImage: "See the image",
  rawFile: "Raw file",
  confidenceLegend: "How sure the recognition is",
  theFile: "The file",
  lines: (count: number) => counted(count, "line", "lines"),
  averageConfidence: (percent: number) => `on average ${percent} % sure`,
  predictedQuality: (quality: string) => `predicted quality ${quality}`,
  confidence: (percent: number) => `${percent} % sure`,
  noConfidence: "no confidence given",
};

/** The legend of the tints. */
export const CONFIDENCE_WORDS = {
  high: "90 % sure or more",
  medium: "70 to 89 %",
  low: "below 70 %",
  unknown: "no confidence given",
};

/** Why a page cannot be shown. */
export const PAGE_PROBLEMS = {
  "unknown encoding":
    "The file is in an encoding that the browser cannot read. Save it and open it in another program.",
  "not XML": "The file is damaged: it is not well-formed XML. Its text is shown below as it is.",
  "not ALTO": "The file is XML but not ALTO, so no lines of text are known. It is shown below as it is.",
};

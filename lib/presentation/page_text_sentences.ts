/** The sentences of the page that shows the text of one page. */
export const PAGE_TEXT_SENTENCES = {
  noPageNamed: "No page is named: open one from the log of its volume.",
  readingPage: "Reading the page…",
  pageNeedsScripts: "The viewer needs scripts; the raw file does not.",
  noTextLines: "The file has no lines of text.",
  textCopied: "copied",
  textNotCopied: "the browser did not allow copying",
  xmlShortened: "The end of this file is left out; the raw file has it.",
} as const;

/** The words of its headings and controls. */
export const PAGE_TEXT_LABELS = {
  pageText: "Page text",
  toReadPages: "to read pages.",
  copyText: "Copy text",
  showXml: "Show XML",
  seeImage: "See the image",
  rawFile: "Raw file",
  confidenceLegend: "How sure the recognition is",
  theFile: "The file",
} as const;

import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** The fixed sentences of the manifest viewer. */
export const VIEWER_SENTENCES = {
  opening: "Opening the manifest…",
  needsScripts:
    "The manifest viewer needs scripts. Switch them on for this site, or open the manifest in another viewer.",
  imageFailed: "The image of this page cannot be loaded. Try again, or turn to another page.",
  imageBlocked:
    "The image of this page cannot be loaded: the browser blocks its address, which begins with http:, on a secure page, " +
    "and https does not work there. Ask its publisher for an https address, or turn to another page.",
  tilesFailed:
    "Parts of this image cannot be loaded, so they are blurred or missing: its server refuses them. Try again.",
  readingText: "Reading the text…",
  noText: "No text is published for this page.",
  pageNotRead: "This page has not been read, so it has no text.",
  notCopied: "The browser did not allow copying. Select the text and copy it by the keyboard.",
  tooLarge: "The manifest is too large to be shown. Open a part of it, such as a single volume.",
  emptyText: "The text file of this page has no lines.",
};

/** The words of the viewer's headings and controls. Those around a name or a number are functions. */
export const VIEWER_LABELS = {
  viewer: "Manifest viewer",
  backTo: (campaign: string) => `Back to ${campaign}`,
  manifestAddress: "Address of a manifest",
  open: "Open",
  tryAgain: "Try again",
  openFile: "Open the file itself",
  close: "Close",

  page: "Page",
  pages: "Pages",
  pageNamed: (label: string) => `Page ${label}`,
  ofPages: (count: number) => `of ${count}`,
  pageOf: (number: number, count: number, label: string) => `Page ${number} of ${count}: ${label}`,
  stage: "Page image",
  pageAndView: "Page and view",
  previousPage: "Previous page",
  nextPage: "Next page",
  zoomOut: "Zoom out",
  zoomIn: "Zoom in",
  zoomIs: "Whole page; zoom is",
  wholePage: "Whole page",
  rotate: "Rotate",
  sideBySide: "Two pages side by side",
  fullScreen: "Full screen",
  thumbnails: "Thumbnails",
  image: (page: string | null) => page === null ? "Image" : `Image of ${page}`,
  imageNumber: (number: number) => `Image ${number}`,

  text: "Text",
  copy: "Copy the text",
  copied: "The text is copied",
  closeText: "Close the text",
  predictedQuality: "Predicted quality",
  quality: (figure: string) => `quality ${figure}`,
  linesOf: (first: number, last: number) => `Lines ${first} to ${last}`,
  showLine: (number: number) => `Show line ${number} on the image`,

  search: "Search in this volume",
  exactSearch: "Match case and accents (a finds neither A nor å)",
  previousHit: "Previous hit",
  nextHit: "Next hit",
  hits: "Hits",
  hitsLeftOut: (count: number) =>
    `${counted(count, "more hit", "more hits")} on pages that the chosen order leaves out.`,

  failedPages: (count: number) => counted(count, "page could not be read", "pages could not be read"),
  unreadPages: (count: number) => counted(count, "page has not been read", "pages have not been read"),
  morePages: (count: number) => `and ${formatCount(count)} more`,
  notRead: "not read",
  notReadable: "could not be read",
  pageFailed: (reason: string) => `This page could not be read: ${reason}`,

  about: "About this volume",
  contents: "Contents",
  linesKeys: "The arrow keys go through the lines.",
  contentsKeys: "The arrow keys go through the contents; right and left unfold and fold an entry.",
  partsOf: (label: string) => `Parts of ${label}`,
  order: "Order of the pages",
  ownOrder: "As in the manifest",
  orderNumber: (number: number) => `Order ${number}`,
  facts: "About",
  title: "Title",
  date: "Date",
  rights: "Rights",
  noRights: "CC0: no rights reserved",
  publicDomain: "Public domain",
  logo: (name: string) => name === "" ? "Logo" : `Logo: ${name}`,
  pageImage: "Image of the page",
  pageText: "Text of the page",
  pageAlto: "ALTO of the page",
  wholeVolume: "The whole volume",
  manifestFile: "Manifest (JSON)",
  unreadablePages: (count: number) =>
    count === 1
      ? "One page of the manifest cannot be read and is shown empty."
      : `${formatCount(count)} pages of the manifest cannot be read and are shown empty.`,
};

/** Why a page has no image. */
export const NO_IMAGE = {
  unreadable: "The manifest describes this page in a form that cannot be read. Turn to another page.",
  audio: "This page is a sound recording, which this viewer does not play.",
  video: "This page is a video, which this viewer does not play.",
  "3D": "This page is a 3D scene, which this viewer does not show.",
  none: "The manifest has no image of this page. Turn to another page.",
};

/** Why there is no manifest to show. */
export const NO_MANIFEST = {
  "none named": "No manifest is named. Open a volume from the list of campaigns, or enter the address of a manifest.",
  "refused address": "The address of the manifest is not one of http or https. Check the address.",
  "not JSON": "The file at this address is not JSON, so it is not a manifest. Check the address.",
  "not a manifest": "The file at this address is not a IIIF manifest. Check the address.",
  "a collection": "This is a IIIF collection, which lists manifests. Open one of its manifests.",
  "no canvases": "The manifest has no pages. It may not be published in full yet: try again later.",
  "unreadable canvases": "None of the manifest's pages can be read. Report this to the publisher of the manifest.",
  "only audio or video":
    "The manifest has only audio or video, which this viewer does not play. Open it in another viewer.",
  "only 3D": "The manifest has only 3D scenes, which this viewer does not show. Open it in another viewer.",
};

/** Why the text of a page is not shown. */
export const NO_TEXT = {
  "not XML": "The text file of this page is damaged: it is not XML. Report this to its publisher.",
  "not ALTO": "The text file of this page is not ALTO. Open the file itself.",
  "unknown encoding":
    "The text file of this page is in an encoding that the browser cannot read. Open the file itself.",
};

/** How far a search in the volume is; figures are whole. */
export const SEARCH_WORDS = {
  hit: "1 hit",
  hits: (count: string) => `${count} hits`,
  hitOf: (place: number, count: string) => `${place} of ${count}`,
  hitsOnPage: (count: number) => counted(count, "hit", "hits"),
  reading: (read: number, total: number) => `${read} of ${counted(total, "page", "pages")} searched so far.`,
  full: (read: number, total: number) =>
    `Only ${read} of ${counted(total, "page", "pages")} are searched: the volume is too long.`,
  searched: (read: number) => `${counted(read, "page", "pages")} searched.`,
  missing: (count: number) =>
    count === 1
      ? "1 page was not searched: its text cannot be read at the moment."
      : `${formatCount(count)} pages were not searched: their texts cannot be read at the moment.`,
  failed: (count: number) => `${counted(count, "page", "pages")} could not be read.`,
  firstListed: (count: number) => `The first ${count} are listed.`,
};

/** Descriptions of the viewer's shortcuts. */
export const VIEWER_KEY_WORDS = {
  previous: "The page to the left",
  next: "The page to the right",
  first: "First page",
  last: "Last page",
  panLeft: "Move the image to the left",
  panRight: "Move the image to the right",
  panUp: "Move the image up",
  panDown: "Move the image down",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  wholePage: "Whole page",
  rotate: "Rotate by a quarter",
  fullScreen: "Full screen",
  thumbnails: "Thumbnails",
  text: "Text",
  about: "About this volume",
  search: "Search in this volume",
  help: "These shortcuts",
};

import { counted, formatCount } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/viewer.ts";

export const VIEWER_SENTENCES: typeof en.VIEWER_SENTENCES = {
  opening: "Öppnar manifestet…",
  needsScripts:
    "Manifestvisaren behöver skript. Slå på dem för den här webbplatsen eller öppna manifestet i en annan visare.",
  imageFailed: "Sidans bild kan inte läsas in. Försök igen eller gå till en annan sida.",
  imageBlocked:
    "Sidans bild kan inte läsas in: webbläsaren blockerar adressen, som börjar med http:, på en säker sida, och https " +
    "fungerar inte där. Be den som publicerar bilden om en https-adress eller gå till en annan sida.",
  tilesFailed:
    "Delar av bilden kan inte läsas in, så de är oskarpa eller saknas: bildens server lämnar inte ut dem. Försök igen.",
  readingText: "Läser texten…",
  noText: "Ingen text är publicerad för den här sidan.",
  pageNotRead: "Sidan har inte lästs och har därför ingen text.",
  notCopied: "Webbläsaren tillät inte kopiering. Markera texten och kopiera den med tangentbordet.",
  tooLarge: "Manifestet är för stort för att visas. Öppna en del av det, till exempel en enda volym.",
  emptyText: "Sidans textfil har inga rader.",
};

export const VIEWER_LABELS: typeof en.VIEWER_LABELS = {
  viewer: "Manifestvisare",
  backTo: (campaign) => `Tillbaka till ${campaign}`,
  manifestAddress: "Adress till ett manifest",
  open: "Öppna",
  tryAgain: "Försök igen",
  openFile: "Öppna själva filen",
  close: "Stäng",

  page: "Sida",
  pages: "Sidor",
  pageNamed: (label) => `Sida ${label}`,
  ofPages: (count) => `av ${count}`,
  pageOf: (number, count, label) => `Sida ${number} av ${count}: ${label}`,
  stage: "Sidans bild",
  pageAndView: "Sida och vy",
  previousPage: "Föregående sida",
  nextPage: "Nästa sida",
  zoomOut: "Zooma ut",
  zoomIn: "Zooma in",
  zoomIs: "Hela sidan; zoomen är",
  wholePage: "Hela sidan",
  rotate: "Rotera",
  sideBySide: "Två sidor bredvid varandra",
  fullScreen: "Helskärm",
  thumbnails: "Miniatyrer",
  image: (page) => page === null ? "Bild" : `Bild av ${page}`,
  imageNumber: (number) => `Bild ${number}`,

  text: "Text",
  copy: "Kopiera texten",
  copied: "Texten är kopierad",
  closeText: "Stäng texten",
  predictedQuality: "Beräknad kvalitet",
  quality: (figure) => `kvalitet ${figure}`,
  linesOf: (first, last) => `Rad ${first} till ${last}`,
  showLine: (number) => `Visa rad ${number} i bilden`,

  search: "Sök i volymen",
  exactSearch: "Skilj på versaler och accenter (a hittar varken A eller å)",
  previousHit: "Föregående träff",
  nextHit: "Nästa träff",
  hits: "Träffar",
  hitsLeftOut: (count) =>
    `${counted(count, "ytterligare träff", "ytterligare träffar")} på sidor som inte ingår i den valda ordningen.`,

  failedPages: (count: number) => counted(count, "sida kunde inte läsas", "sidor kunde inte läsas"),
  unreadPages: (count: number) => counted(count, "sida har inte lästs", "sidor har inte lästs"),
  morePages: (count: number) => `och ${formatCount(count)} till`,
  notRead: "inte läst",
  notReadable: "kunde inte läsas",
  pageFailed: (reason: string) => `Sidan kunde inte läsas: ${reason}`,

  about: "Om volymen",
  contents: "Innehåll",
  linesKeys: "Piltangenterna går genom raderna.",
  contentsKeys: "Piltangenterna går genom innehållet; höger och vänster fäller ut och fäller ihop en post.",
  partsOf: (label) => `Delar av ${label}`,
  order: "Sidornas ordning",
  ownOrder: "Som i manifestet",
  orderNumber: (number) => `Ordning ${number}`,
  facts: "Om",
  title: "Titel",
  date: "Datum",
  rights: "Rättigheter",
  noRights: "CC0: inga förbehållna rättigheter",
  publicDomain: "Fri från upphovsrätt",
  logo: (name) => name === "" ? "Logotyp" : `Logotyp: ${name}`,
  pageImage: "Sidans bild",
  pageText: "Sidans text",
  pageAlto: "Sidans ALTO",
  wholeVolume: "Hela volymen",
  manifestFile: "Manifest (JSON)",
  unreadablePages: (count) =>
    count === 1
      ? "En sida i manifestet kan inte läsas och visas tom."
      : `${formatCount(count)} sidor i manifestet kan inte läsas och visas tomma.`,
};

export const NO_IMAGE: typeof en.NO_IMAGE = {
  unreadable: "Manifestet beskriver sidan på ett sätt som inte kan läsas. Gå till en annan sida.",
  audio: "Sidan är en ljudinspelning, som den här visaren inte kan spela upp.",
  video: "Sidan är en video, som den här visaren inte kan spela upp.",
  "3D": "Sidan är en 3D-scen, som den här visaren inte kan visa.",
  none: "Manifestet har ingen bild av sidan. Gå till en annan sida.",
};

export const NO_MANIFEST: typeof en.NO_MANIFEST = {
  "none named":
    "Inget manifest är angivet. Öppna en volym från listan över kampanjer eller ange adressen till ett manifest.",
  "refused address": "Manifestets adress börjar inte med http eller https. Kontrollera adressen.",
  "not JSON": "Filen på adressen är inte JSON och därför inget manifest. Kontrollera adressen.",
  "not a manifest": "Filen på adressen är inget IIIF-manifest. Kontrollera adressen.",
  "a collection": "Detta är en IIIF-samling, som listar manifest. Öppna ett av manifesten.",
  "no canvases": "Manifestet har inga sidor. Det kanske inte är helt publicerat än: försök igen senare.",
  "unreadable canvases": "Ingen av manifestets sidor kan läsas. Anmäl felet till den som publicerar manifestet.",
  "only audio or video":
    "Manifestet har bara ljud eller video, som den här visaren inte kan spela upp. Öppna det i en annan visare.",
  "only 3D": "Manifestet har bara 3D-scener, som den här visaren inte kan visa. Öppna det i en annan visare.",
};

export const NO_TEXT: typeof en.NO_TEXT = {
  "not XML": "Sidans textfil är skadad: den är inte XML. Anmäl felet till den som publicerar den.",
  "not ALTO": "Sidans textfil är inte ALTO. Öppna själva filen.",
  "unknown encoding": "Sidans textfil har en teckenkodning som webbläsaren inte kan läsa. Öppna själva filen.",
};

export const SEARCH_WORDS: typeof en.SEARCH_WORDS = {
  hit: "1 träff",
  hits: (count) => `${count} träffar`,
  hitOf: (place, count) => `${place} av ${count}`,
  hitsOnPage: (count) => counted(count, "träff", "träffar"),
  reading: (read, total) => `${read} av ${counted(total, "sida", "sidor")} genomsökta hittills.`,
  full: (read, total) => `Bara ${read} av ${counted(total, "sida", "sidor")} genomsöks: volymen är för lång.`,
  searched: (read) => counted(read, "sida genomsökt.", "sidor genomsökta."),
  missing: (count) =>
    count === 1
      ? "1 sida är inte genomsökt: dess text kan inte läsas just nu."
      : `${formatCount(count)} sidor är inte genomsökta: deras texter kan inte läsas just nu.`,
  failed: (count) => `${counted(count, "sida", "sidor")} kunde inte läsas.`,
  firstListed: (count) => `De första ${count} visas.`,
};

export const VIEWER_KEY_WORDS: typeof en.VIEWER_KEY_WORDS = {
  previous: "Sidan till vänster",
  next: "Sidan till höger",
  first: "Första sidan",
  last: "Sista sidan",
  panLeft: "Flytta bilden åt vänster",
  panRight: "Flytta bilden åt höger",
  panUp: "Flytta bilden uppåt",
  panDown: "Flytta bilden nedåt",
  zoomIn: "Zooma in",
  zoomOut: "Zooma ut",
  wholePage: "Hela sidan",
  rotate: "Rotera ett kvarts varv",
  fullScreen: "Helskärm",
  thumbnails: "Miniatyrer",
  text: "Text",
  about: "Om volymen",
  search: "Sök i volymen",
  help: "De här kortkommandona",
};

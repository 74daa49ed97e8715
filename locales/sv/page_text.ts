import { counted } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/page_text.ts";

export const PAGE_TEXT_SENTENCES: typeof en.PAGE_TEXT_SENTENCES = {
  noPageNamed: "Ingen sida är angiven: öppna en från volymens logg.",
  readingPage: "Läser sidan…",
  pageNeedsScripts: "Visaren behöver skript; det gör inte originalfilen.",
  noTextLines: "Filen har inga textrader.",
  noFile: "Det finns ingen fil på den här adressen. Sidan har inte bearbetats än eller kunde inte läsas.",
  textCopied: "kopierad",
  textNotCopied: "webbläsaren tillät inte kopiering",
  xmlShortened: "Slutet av filen är utelämnat; det finns i originalfilen.",
};

export const PAGE_TEXT_LABELS: typeof en.PAGE_TEXT_LABELS = {
  pageText: "Sidtext",
  toReadPages: "för att läsa sidor.",
  copyText: "Kopiera text",
  showXml: "Visa XML",
  seeImage: "Se bilden",
  rawFile: "Originalfil",
  confidenceLegend: "Hur säker tolkningen är",
  theFile: "Filen",
  lines: (count) => counted(count, "rad", "rader"),
  averageConfidence: (percent) => `i genomsnitt ${percent} % säker`,
  predictedQuality: (quality) => `beräknad kvalitet ${quality}`,
  confidence: (percent) => `${percent} % säker`,
  noConfidence: "säkerhet saknas",
};

export const CONFIDENCE_WORDS: typeof en.CONFIDENCE_WORDS = {
  high: "minst 90 % säker",
  medium: "70 till 89 %",
  low: "under 70 %",
  unknown: "säkerhet saknas",
};

export const PAGE_PROBLEMS: typeof en.PAGE_PROBLEMS = {
  "unknown encoding":
    "Filen har en teckenkodning som webbläsaren inte kan läsa. Spara den och öppna den i ett annat program.",
  "not XML": "Filen är skadad: den är inte välformad XML. Texten visas nedan som den är.",
  "not ALTO": "Filen är XML men inte ALTO, så inga textrader är kända. Den visas nedan som den är.",
};

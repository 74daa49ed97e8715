import { counted } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/page.ts";

export const SENTENCES: typeof en.SENTENCES = {
  noMatch: "Ingen kampanj matchar filtret.",
  noCampaigns: "Det finns inga kampanjer än. De visas här när den första har startats.",
  noList: "Den här servern har ingen lista över kampanjer.",
  campaignGone: "Kampanjen har tagits bort.",
  orderOfLastVisit: "Ordningen är densamma som vid ditt senaste besök på den här fliken",
  serverUnreachable: "Ingen anslutning till servern.",
  unreadable: "Servern skickade ett svar som inte kan läsas. Läs in sidan på nytt.",
  apiNeedsScripts: "Den här sidan behöver skript. Det gör inte beskrivningen av API:et som visas på den:",
  noPage: "Det finns ingen sida på den här adressen.",
  resultsOutage: "Resultatlagret svarar inte, så inloggningen kan inte kontrolleras.",
  clusterOutage: "Klustret som kör kampanjerna svarar inte.",
  noCluster: "Den här webbplatsen har inga kampanjer.",
  clusterTimeout: "Klustret som kör kampanjerna svarar inte i tid.",
  otherOutage: (status) => `Kampanjerna kan inte läsas just nu (servern svarade ${status}).`,
  olderUnsearched: (count) => `${counted(count, "äldre kampanj", "äldre kampanjer")} har inte genomsökts.`,
  noCampaign: (namespace, name) => `Det finns ingen kampanj med namnet ${namespace}/${name}.`,
};

export const LABELS: typeof en.LABELS = {
  toContent: "Hoppa till innehållet",
  mainNavigation: "Huvudmeny",
  campaigns: "Kampanjer",
  toCampaigns: "Tillbaka till kampanjerna",
  api: "API",
  notFound: "Sidan hittades inte",
  logIn: "Logga in",
  logOut: "Logga ut",
  toSeeCampaigns: "för att se kampanjerna.",
  loading: "Läser in…",
  breadcrumb: "Sökväg",
  runLog: "Körlogg",

  filterByText: "Sök namn eller pipeline",
  filterByState: "Filtrera på tillstånd",
  shownOf: (shown, all) => `${shown} av ${all} visas`,
  updated: "uppdaterad",
  timesAreUtc: "UTC, som alla tider här",
  sortAgain: "Sortera om",
  olderCampaigns: (next, all) => `Visa ${next} äldre kampanjer av ${all}`,

  inTrouble: (count) => `${count} behöver åtgärdas`,
};

export const REFUSED_URLS: typeof en.REFUSED_URLS = {
  "not a URL": (parameter) => `Adressen i ”${parameter}” är ingen webbadress.`,
  "outside the results": (parameter) =>
    `Adressen i ”${parameter}” hör inte till den här webbplatsens resultat och öppnas därför inte.`,
  "escaped separator": (parameter) =>
    `Adressen i ”${parameter}” döljer ett snedstreck eller omvänt snedstreck i sökvägen och öppnas därför inte.`,
};

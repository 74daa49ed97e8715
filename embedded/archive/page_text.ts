import { between, pick, seededRandom } from "./seeded_random.ts";

/** The date at the head of a page; the pages of a volume lie in one year. */
export function heading(seed: number, volume: string, page: number, random: () => number): string {
  const year = between(seededRandom("year", seed, volume), 1690, 1880);
  return `Anno ${year} den ${between(random, 1, 28)} ${pick(random, MONTHS)}`;
}

/** Words without end, in the manner of old Swedish court and parish books; only characters that the page font has. */
export function* runningText(random: () => number): Generator<string, never> {
  while (true) yield* sentence(random).split(" ");
}

/** The columns of an account book, their titles first. */
export const ACCOUNT_TITLES = ["No", "Namn", "Ort", "Daler"];

/** One row of an account book. */
export function accountRow(number: number, random: () => number): readonly string[] {
  const { names, kin } = pick(random, PEOPLE);
  return [
    String(number),
    `${pick(random, names)} ${pick(random, kin)}`,
    pick(random, PLACES),
    `${between(random, 1, 180)}:${between(random, 0, 31)}`,
  ];
}

/** The title of a map, and a name on it. */
export function mapTitle(random: () => number): string {
  return `Geometrisk Charta öfver ${pick(random, PLACES)} sochn`;
}

export function mapName(random: () => number): string {
  return pick(random, [...PLACES, "Storsjön", "Lillån", "Kyrkan", "Mosse", "Utmark", "Kungsvägen", "Hage"]);
}

/**
 * Where a word may be divided at the end of a line, as the length of its first part: between a vowel and a consonant that
 * begins a syllable, with at least three letters on both sides. The longest first part of at most `longest`; 0: nowhere.
 */
export function hyphenation(word: string, longest: number): number {
  for (let at = Math.min(longest, word.length - 3); at >= 3; at--) {
    if (VOWEL.test(word[at - 1]) && CONSONANT.test(word[at]) && VOWEL.test(word[at + 1])) return at;
  }
  return 0;
}

const VOWEL = /[aeiouyåäöé]/;
const CONSONANT = /[bcdfghjklmnpqrstvwxz]/;

function sentence(random: () => number): string {
  const { trades, names, kin } = pick(random, PEOPLE);
  const person = `${pick(random, trades)} ${pick(random, names)} ${pick(random, kin)}`;
  const place = `${pick(random, PLACES)} ${pick(random, HOLDINGS)}`;
  const opening = pick(random, OPENINGS).replace("@", person);
  const middle = pick(random, MIDDLES).replace("@", place);
  return `${opening} ${middle} ${pick(random, CLOSINGS)}`;
}

const MONTHS = ["Januarii", "Februarii", "Martii", "Aprilis", "Maji", "Junii", "Julii", "Augusti", "Octobris"];
const PEOPLE = [
  {
    trades: ["åboen", "drängen", "nämndemannen", "smeden", "ryttaren", "länsmannen", "skräddaren"],
    names: ["Pär", "Jöns", "Måns", "Olof", "Håkan", "Sven", "Åke"],
    kin: ["Jönsson", "Håkansson", "Bengtsson", "Pärsson", "Ek"],
  },
  {
    trades: ["änkan", "pigan", "hustrun", "enkefru"],
    names: ["Börta", "Ingeborg", "Kerstin", "Märta", "Åsa"],
    kin: ["Andersdotter", "Nilsdotter", "Månsdotter", "Håkansdotter"],
  },
];
const PLACES = ["Åkerby", "Västra Ryd", "Källsjö", "Björkö", "Häggeby", "Önnestad", "Norrvik", "Ängelsberg", "Träslöv"];
const HOLDINGS = ["hemman", "by", "sochn", "gård", "torp", "qvarn"];
const OPENINGS = [
  "Inställte sig @ och begärde",
  "För Rätten framträdde @ som berättade",
  "Upplästes den skrift, hvari @ anhåller",
  "Tillfrågades @ under sin ed",
  "Hustrun förmäler, att @ hafver sagt",
  "Emot detta invände @ och förmente",
];
const MIDDLES = [
  "att få tillträda @ nästkommande år;",
  "huru gärdesgården vid @ blifvit nedrifven;",
  "att skatten för @ rätteligen är betald;",
  "det boskapen ifrån @ gått uti åkern;",
  "at vägen öfver @ bör underhållas;",
  "om arfvet efter fadren uti @;",
];
const CLOSINGS = [
  "hvilket Rätten låter bero till nästa Ting.",
  "det ock af Nämnden intygades.",
  "och blef saken dermed afslutad.",
  "hvarföre han böte 3 daler silfvermynt.",
  "som här till minnes antecknas.",
  "därom parterne sig förlikte.",
];

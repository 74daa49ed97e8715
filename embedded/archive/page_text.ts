import { between, pick, seededRandom } from "./seeded_random.ts";

/** No line of a page is longer than this, in characters: what fits between the margins of the drawn page. */
export const MAX_LINE_CHARACTERS = 40;

/**
 * The lines of one page in the manner of old Swedish court and parish books, a heading first.
 * The same seed, volume and page always read the same; only characters that the page font has.
 */
export function pageText(seed: number, volume: string, page: number, lines: number): string[] {
  const random = seededRandom("text", seed, volume, page);
  const year = between(seededRandom("year", seed, volume), 1690, 1880);
  const written = [`Anno ${year} den ${between(random, 1, 28)} ${pick(random, MONTHS)}. Fol. ${page}`];
  let line = "";
  while (written.length < lines) {
    for (const word of sentence(random).split(" ")) {
      if (line.length + word.length + 1 > MAX_LINE_CHARACTERS) {
        written.push(line);
        line = word;
      } else {
        line = line === "" ? word : `${line} ${word}`;
      }
    }
  }
  return written.slice(0, lines);
}

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

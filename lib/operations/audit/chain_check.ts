import { Buffer } from "node:buffer";
import {
  ANCHOR_FILE,
  CHAIN_START,
  type ChainEnd,
  type ChainPosition,
  dayFile,
  daysIn,
  END_FILE,
  follows,
  headerOf,
  idOf,
  opened,
  readAnchor,
  readEnd,
} from "./audit_trail.ts";

const BLOCK_BYTES = 256 * 1024;

/**
 * Reads a whole trail and checks that each record follows the one before, from the oldest day that was not removed to the
 * noted end. An unfinished last line is no fault: it was never confirmed, and the next start removes it.
 *
 * @param outside the end that was noted outside of the folder, before this check; null: none
 * @returns how many records there are, and the faults, a line each; after one in a file it goes on with the next file
 */
export function checkChainFolder(folder: string, outside: ChainEnd | null = null) {
  const faults: string[] = [];
  const end = readEnd(folder);
  const anchor = readAnchor(folder);
  if (end === "damaged") faults.push(`${END_FILE}: damaged`);
  if (anchor === "damaged") faults.push(`${ANCHOR_FILE}: damaged`);
  const begin = anchor === "damaged" ? null : anchor;
  const noted = end === "damaged" ? null : end;
  // Older ones are left over from a removal that a kill cut off.
  const days = daysIn(folder).filter((day) => begin === null || day > begin.day);
  let position: ChainPosition = begin ? { number: begin.number, hash: begin.hash } : CHAIN_START;
  let trail = begin?.trail ?? null;
  let records = 0;
  /** The hash of the record whose number was noted outside; null while it is not found. */
  let outsideHash: string | null = outside?.number === position.number ? position.hash : null;
  /** Whether what comes next cannot be compared, since the file before it is damaged. */
  let isLost = false;
  /** Whether the noted end was passed. */
  let isEndFound = noted === null || (noted.number === position.number && noted.hash === position.hash);
  for (const day of days) {
    const name = `${day}.jsonl`;
    const fault = (text: string) => void faults.push(`${name}: ${text}`);
    let isFirst = true;
    for (const { line, number: at, isWhole } of linesOf(dayFile(folder, day))) {
      if (!isWhole) {
        if (day !== days.at(-1)) fault(`line ${at} is cut off`);
        break;
      }
      const found = opened(line);
      const header = isFirst ? headerOf(found?.text ?? "") : null;
      if (isFirst) {
        isFirst = false;
        if (found === null || header === null || !follows(header.prev, found)) {
          fault("the header was changed or removed");
          isLost = true;
          break;
        }
        trail ??= header.trail;
        if (header.day !== day) fault(`the header is that of ${header.day}`);
        if (header.trail !== trail) fault("it is of another trail");
        if (!isLost && (header.after !== position.number || header.prev !== position.hash)) {
          fault(
            header.after > position.number
              ? `records ${position.number + 1} to ${header.after} before it are missing or were changed`
              : "it does not follow the file before it",
          );
        }
        isLost = false;
        position = { number: header.after, hash: header.prev };
        continue;
      }
      const id = found && idOf(found.text);
      if (!found || !id || id.trail !== trail || id.number !== position.number + 1 || !follows(position.hash, found)) {
        const isGap = found !== null && id !== null && id.trail === trail && id.number > position.number + 1;
        fault(
          isGap
            ? missing(position.number + 1, id.number - 1)
            : `line ${at} was changed, or does not follow the one before`,
        );
        isLost = true;
        break;
      }
      position = { number: id.number, hash: found.hash };
      if (outside?.number === position.number) outsideHash = position.hash;
      if (noted?.number === position.number) isEndFound = noted.hash === position.hash;
      records++;
    }
  }
  const isCutOff = !isEndFound && !isLost && noted !== null && noted.number >= position.number;
  if (isCutOff) faults.push(`records after ${position.number} are missing: there were ${noted.number}`);
  else if (!isEndFound && faults.length === 0) faults.push(`${END_FILE}: it is of another trail`);
  if (outside !== null && !isLost && !isCutOff) {
    const { number } = outside;
    if (outside.trail !== trail) {
      faults.push(`it was removed or exchanged: trail ${outside.trail} had ${number} records`);
    } else if (number > position.number) {
      faults.push(`records after ${position.number} are missing: there were ${number}`);
    } else if (outsideHash !== null && outsideHash !== outside.hash) {
      faults.push(`record ${number} is not the one that was noted`);
    }
  }
  return { records, faults };
}

function missing(first: number, last: number): string {
  return first === last ? `record ${first} is missing` : `records ${first} to ${last} are missing`;
}

/** The lines of a file with their numbers from 1. */
function* linesOf(path: string): Generator<{ line: string; number: number; isWhole: boolean }> {
  const file = Deno.openSync(path, { read: true });
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    let held = Buffer.alloc(0);
    let number = 0;
    for (;;) {
      const count = file.readSync(block);
      if (count === null) break;
      held = Buffer.concat([held, block.subarray(0, count)]);
      let begin = 0;
      for (let end = held.indexOf(0x0a); end >= 0; end = held.indexOf(0x0a, begin)) {
        yield { line: held.toString("utf8", begin, end), number: ++number, isWhole: true };
        begin = end + 1;
      }
      held = held.subarray(begin);
    }
    if (held.length > 0) yield { line: held.toString("utf8"), number: ++number, isWhole: false };
  } finally {
    file.close();
  }
}

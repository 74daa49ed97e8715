import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { verifyDataFolder } from "@/compose/verify.ts";
import { between, pick, seededRandom } from "@/embedded/archive/catalogue.ts";
import { BODY_FOLDER } from "@/embedded/store/bodies.ts";

const INDEX = "index.db";

/** The damage of one round, and the findings of `verify`. */
export interface DamageRound {
  readonly damage: string;
  /** Null: nothing, and each row of the index is as it was. */
  readonly finding: string | null;
}

/**
 * Damages a page of the index or a body of a stopped data folder, lets `verify` look, and repairs it, again and again.
 * Throws where damage is not found that changes what the folder holds.
 */
export function* damageRounds(folder: string, rounds: number, seed: number): Generator<DamageRound> {
  const bodies = bodyFiles(folder);
  const rows = digestOfRows(folder);
  for (let round = 1; round <= rounds; round++) {
    const random = seededRandom("damage", seed, round);
    const isIndex = round % 2 === 1 || bodies.length === 0;
    const path = isIndex ? `${folder}/${INDEX}` : pick(random, bodies);
    const whole = Deno.readFileSync(path);
    const name = path.slice(folder.length + 1);
    const damaged = isIndex ? withDamagedPage(whole, random) : withDamagedBytes(whole, random);
    try {
      if (damaged.bytes === null) Deno.removeSync(path);
      else Deno.writeFileSync(path, damaged.bytes);
      const findings: string[] = [];
      const isWell = verifyDataFolder(folder, (line) => findings.push(line));
      const damage = `${isIndex ? INDEX : "a body"}: ${damaged.what}`;
      if (isWell) {
        assert.ok(isIndex && digestOfRows(folder) === rows, `seed ${seed}: nothing found in ${name}: ${damage}`);
      }
      yield { damage, finding: isWell ? null : findings[0] };
    } finally {
      Deno.writeFileSync(path, whole);
    }
  }
}

interface Damaged {
  readonly what: string;
  /** Null: the file was deleted. */
  readonly bytes: Uint8Array | null;
}

function withDamagedPage(whole: Uint8Array, random: () => number): Damaged {
  const size = new DataView(whole.buffer).getUint16(16) || 65_536;
  const page = between(random, 0, whole.length / size - 1);
  const bytes = whole.slice();
  const isZero = random() < 0.5;
  bytes.set(isZero ? new Uint8Array(size) : randomBytes(size), page * size);
  return { what: `page ${page} is ${isZero ? "zeros" : "noise"}`, bytes };
}

function withDamagedBytes(whole: Uint8Array, random: () => number): Damaged {
  const at = between(random, 0, whole.length - 1);
  switch (between(random, 0, 3)) {
    case 0:
      return { what: `byte ${at} has another bit`, bytes: whole.with(at, whole[at] ^ (1 << between(random, 0, 7))) };
    case 1:
      return { what: `cut behind ${at} bytes`, bytes: whole.slice(0, at) };
    case 2:
      return { what: "a byte too long", bytes: new Uint8Array([...whole, 0]) };
    default:
      return { what: "gone", bytes: null };
  }
}

function bodyFiles(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/${BODY_FOLDER}`)].filter(({ isDirectory }) => isDirectory).flatMap((
    { name },
  ) =>
    [...Deno.readDirSync(`${folder}/${BODY_FOLDER}/${name}`)].map((file) =>
      `${folder}/${BODY_FOLDER}/${name}/${file.name}`
    )
  ).sort();
}

/** A digest of all rows of the index. */
function digestOfRows(folder: string): string {
  const index = new DatabaseSync(`${folder}/${INDEX}`, { readOnly: true });
  try {
    const hash = createHash("sha256");
    for (const { name } of index.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()) {
      for (const row of index.prepare(`SELECT * FROM "${name}"`).iterate()) {
        for (const value of Object.values(row)) hash.update(value instanceof Uint8Array ? value : `${value}\n`);
      }
    }
    return hash.digest("hex");
  } finally {
    index.close();
  }
}

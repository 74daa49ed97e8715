import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { currentLanguage, inLanguage, LANGUAGES, readLanguageFrom } from "@/lib/pages/locale/language.ts";
import { SAME_WORDS } from "@/tests/site/page_texts.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDER = `${ROOT}locales`;
const files = (language: string) => [...Deno.readDirSync(`${FOLDER}/${language}`)].map(({ name }) => name).sort();

type Entry = readonly [path: string, english: unknown, swedish: unknown];

function entriesOf(path: string, english: unknown, swedish: unknown): Entry[] {
  if (typeof english !== "object" || english === null) return [[path, english, swedish]];
  assert.ok(typeof swedish === "object" && swedish !== null, path);
  assert.deepEqual(Object.keys(swedish), Object.keys(english), path);
  return Object.keys(english).flatMap((name) =>
    entriesOf(`${path}.${name}`, Reflect.get(english, name), Reflect.get(swedish, name))
  );
}

async function allEntries(): Promise<Entry[]> {
  const entries = await Promise.all(
    files("en").map(async (name) => {
      const [english, swedish] = await Promise.all(
        LANGUAGES.map(async (language) => ({ ...await import(`${FOLDER}/${language}/${name}`) })),
      );
      return entriesOf(name, english, swedish);
    }),
  );
  return entries.flat();
}

Deno.test("sentences: every language has the same tables with the same members", async () => {
  for (const language of LANGUAGES) assert.deepEqual(files(language), files("en"));
  assert.ok((await allEntries()).length > 50);
});

Deno.test("sentences: none is empty, and functions take the same parameters", async () => {
  for (const [path, english, swedish] of await allEntries()) {
    assert.equal(typeof swedish, typeof english, path);
    if (typeof english === "function" && typeof swedish === "function") {
      assert.equal(swedish.length, english.length, path);
    } else {
      assert.ok(typeof swedish === "string" && swedish.trim() !== "", path);
    }
  }
});

Deno.test("sentences: none is the same in both languages but those that are meant to be", async () => {
  const unexpected = (await allEntries()).filter(([, english, swedish]) =>
    textOf(english) === textOf(swedish) && /\p{L}{2}/u.test(textOf(english)) && !SAME_WORDS.has(textOf(english))
  );
  assert.deepEqual(unexpected.map(([path, english]) => `${path}: ${String(english)}`), []);
});

/** The words of a member: its text, or the texts in a function without what it puts into them. */
function textOf(member: unknown): string {
  if (typeof member !== "function") return String(member);
  const texts = member.toString().match(/`[^`]*`|"[^"]*"/g) ?? [];
  return texts.map((text) => text.slice(1, -1).replace(/\$\{[^}]*\}/g, "").trim()).join(" ");
}

Deno.test("inLanguage: each access reads the table of the current language", () => {
  const table = inLanguage({
    en: { yes: "yes", of: (a: string) => `of ${a}` },
    sv: { yes: "ja", of: (a) => `av ${a}` },
  });
  assert.deepEqual([table.yes, table.of("x")], ["yes", "of x"]);
  readLanguageFrom(() => "sv");
  try {
    assert.equal(currentLanguage(), "sv");
    assert.deepEqual([table.yes, table.of("x"), Object.values(table).length], ["ja", "av x", 2]);
  } finally {
    readLanguageFrom(() => "en");
  }
  assert.throws(() => Object.assign(table, { yes: "no" }), TypeError);
});

Deno.test("sentences: no module reads one when it is loaded, since the language is known later", async () => {
  const script = `
    await import("@/lib/site/page_language.ts");
    const { readLanguageFrom } = await import("@/lib/pages/locale/language.ts");
    const tooEarly = new Error();
    readLanguageFrom(() => { throw tooEarly; });
    for (const path of JSON.parse(Deno.args[0])) {
      // What else fails needs a browser.
      await import(path).catch((error) => error === tooEarly && console.log(path));
    }
    console.log("done");`;
  const modules = ["components", "islands", "lib/pages", "locales", "routes"].flatMap((folder) => sourcesBelow(folder));
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", `${ROOT}deno.test.json`, "--ext=ts", script, JSON.stringify(modules)],
    cwd: ROOT,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert.equal(decode(stdout), "done\n", decode(stderr));
});

function sourcesBelow(folder: string): string[] {
  return [...Deno.readDirSync(ROOT + folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? sourcesBelow(`${folder}/${name}`) : /\.tsx?$/.test(name) ? [`@/${folder}/${name}`] : []
  );
}

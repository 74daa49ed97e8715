import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { EntryNames } from "@/lib/tasks/zip/zip_names.ts";

function namesOf(keys: readonly string[]): string[] {
  const names = new EntryNames();
  for (const key of keys) names.addFolders(key);
  return keys.map((key) => names.nameOf(key).name);
}

const nameOf = (key: string) => namesOf([key])[0];

Deno.test("zip names: a safe key is its own name", () => {
  const keys = [
    "2026/första sidan.txt",
    "a b/c (1).tar.gz",
    ".hidden/.file",
    "commander",
    "x/",
    "日本語/ページ.png",
    "console.txt",
  ];
  assert.deepEqual(namesOf(keys), keys);
});

Deno.test("zip names: no name leaves its folder or means another thing elsewhere", () => {
  const names: Record<string, string> = {
    "/etc/passwd": "etc/passwd",
    "../../x": "__/__/x",
    "a/./b/../c": "a/_/b/__/c",
    "a//b": "a/b",
    "C:\\x\\y": "C__x_y",
    "c:/x": "c_/x",
    "..\\..\\x": ".._.._x",
    "a\0b\n\u202egpj.exe": "a_b__gpj.exe",
    'a?b*/c|d"e<f>g/h:i:j.txt': "a_b_/c_d_e_f_g/h_i_j.txt",
    "12:30.log": "12_30.log",
    "CON:/com¹.txt/LPT³ .a/COM10": "CON_/_com¹.txt/_LPT³ .a/COM10",
    "con/aux.txt/LPT1/nul.tar.gz": "_con/_aux.txt/_LPT1/_nul.tar.gz",
    "name. . /x ": "name____/x_",
    "/": "_/",
    "///": "_/",
    "_errors.txt": "_errors (2).txt",
    "_ERRORS.txt": "_ERRORS (2).txt",
    "_errors.txt/a": "__errors.txt/a",
    "/_Errors.txt/": "__Errors.txt/",
    "a/_errors.txt/b": "a/_errors.txt/b",
  };
  for (const [key, name] of Object.entries(names)) assert.equal(nameOf(key), name, JSON.stringify(key));
});

Deno.test("zip names: a long part is cut in front of its extension, between characters", () => {
  const name = nameOf(`${"å".repeat(200)}.jpeg/${"x".repeat(1024)}`);
  const [folder, file] = name.split("/");
  assert.equal(folder, `${"å".repeat(125)}.jpeg`);
  assert.equal(file, "x".repeat(255));
});

Deno.test("zip names: twins in case and normalization, and files with the name of a folder, get a number", () => {
  assert.deepEqual(
    namesOf(["a.txt", "A.TXT", "e\u0301", "\u00e9", "a/b", "a", "A", "straße", "STRASSE", "x/", "X/"]),
    [
      "a.txt",
      "A (2).TXT",
      "e\u0301",
      "\u00e9 (2)",
      "a/b",
      "a (2)",
      "A (3)",
      "straße",
      "STRASSE (2)",
      "x/",
      "X (3)/",
    ],
  );
  assert.deepEqual(namesOf(["a (2)", "a", "A"]), ["a (2)", "a", "A (3)"]);
  assert.deepEqual(
    namesOf(["d?/x:1", "D*/X|1", "d_/x_1", "con", "_con", "e.", "e_", "f|", "f_/a"]),
    ["d_/x_1", "D_/X_1 (2)", "d_/x_1 (3)", "_con", "_con (2)", "e_", "e_ (2)", "f_ (2)", "f_/a"],
  );
});

Deno.test("zip names: a file has no folder's name, also when its key comes after a neighbour in the same folders", () => {
  assert.deepEqual(
    namesOf(["å/b/c/1", "Å/B/c/2", "å/b/d/3", "å/b/d", "Å/b/c", "å/b", "å/b/e/4", "å/b/e", "B"]),
    ["å/b/c/1", "Å/B/c/2", "å/b/d/3", "å/b/d (2)", "Å/b/c (2)", "å/b (2)", "å/b/e/4", "å/b/e (2)", "B"],
  );
});

Deno.test("zip names: a key that ends with a slash has another name for the case that it has bytes", () => {
  const names = new EntryNames();
  for (const key of ["a/b", "a/"]) names.addFolders(key);
  names.nameOf("a/b");
  assert.deepEqual(names.nameOf("a/"), { name: "a/", fileName: "a (2)" });
});

const awkward = fc.constantFrom(
  ...'aAbBåÅéßſKK.. ~:?*|<>"\\/$\0\n\u0301\u202e😀',
  "..",
  "/",
  "//",
  "con",
  "NUL.txt",
  " (2)",
  "_errors.txt",
  "C:",
  "\ud800",
);
const anyKey = fc.array(fc.oneof(awkward, fc.string({ unit: "binary", maxLength: 4 })), { minLength: 1, maxLength: 8 })
  .map((units) => units.join(""));
const longKey = fc.tuple(anyKey, fc.integer({ min: 0, max: 300 })).map(([key, times]) => key + "å".repeat(times));

Deno.test("zip names: names of any keys are safe, distinct on every system, and the same each time", () => {
  fc.assert(fc.property(fc.uniqueArray(fc.oneof(anyKey, longKey), { maxLength: 30 }), (keys) => {
    const names = namesOf(keys);
    assert.deepEqual(namesOf(keys), names);
    const files = new Set<string>();
    const folders = new Set<string>();
    for (const [at, name] of names.entries()) {
      assert.ok(name.isWellFormed());
      assert.equal(name.endsWith("/"), keys[at].endsWith("/"));
      const segments = name.replace(/\/$/, "").split("/");
      for (const segment of segments) {
        assert.ok(segment !== "" && segment !== "." && segment !== "..", name);
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(segment, /[\\:?*|"<>\x00-\x1f\x7f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i, name);
        assert.ok(Buffer.byteLength(segment) <= 255, name);
      }
      for (const fold of [lower, upper]) {
        const path = `${fold.name} ${fold(segments.join("/"))}`;
        assert.ok(!files.has(path), `${name} twice`);
        if (name.endsWith("/")) {
          assert.ok(!folders.has(path), `${name} twice`);
          folders.add(path);
        } else {
          assert.ok(!folders.has(path), `${name} is a folder too`);
          files.add(path);
        }
      }
    }
    for (const name of names) {
      const segments = name.replace(/\/$/, "").split("/");
      for (let length = 1; length < segments.length; length++) {
        assert.ok(!files.has(`lower ${lower(segments.slice(0, length).join("/"))}`), `${name} is in a file`);
      }
    }
  }));
});

function lower(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function upper(name: string): string {
  return name.normalize("NFC").toUpperCase();
}

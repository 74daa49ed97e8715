import assert from "node:assert/strict";
import { SAMPLE_LOGINS, SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { sharedApplication } from "./applications.ts";

/** A line of the walk-through: a variable that is set, or a curl call, or both. */
interface Step {
  line: string;
  variable: string | null;
  /** The words of the curl call, or of the value. */
  words: string[];
  isCurl: boolean;
  /** The JSON member that `sed` takes out of the answer. */
  member: string | null;
}

function walkThrough(readme: string): Step[] {
  const block = /^## A walk through the API$.*?^```sh$(.*?)^```$/ms.exec(readme)?.[1] ?? "";
  return block.trim().split("\n").map((line) => {
    const assigned = /^([A-Z]+)=(.*)$/.exec(line);
    const piped = /^\$\((curl .*) \| sed '.*"(\w+)":"\\\(\[\^"\]\*\\\)"\.\*\/\\1\/'\)$/.exec(assigned?.[2] ?? "");
    const words = shellWords(piped?.[1] ?? assigned?.[2] ?? line);
    return { line, variable: assigned?.[1] ?? null, words, isCurl: words[0] === "curl", member: piped?.[2] ?? null };
  });
}

/** Words of a shell line with single and double quotes; `$NAME` is left for {@link filled}, but not in single quotes. */
function shellWords(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single?.replaceAll("$", "\u0000") ?? double)
  );
}

function filled(word: string, variables: Map<string, string>): string {
  return word.replace(/\$([A-Z]+)/g, (_, name) => variables.get(name) ?? assert.fail(`$${name} is not set`))
    .replaceAll("\u0000", "$");
}

/** What curl would send for these words. */
function request(words: string[]): Request {
  let url = "";
  let method: string | null = null;
  const data: string[] = [];
  let body: Uint8Array<ArrayBuffer> | null = null;
  const headers = new Headers();
  for (let i = 1; i < words.length; i++) {
    switch (words[i]) {
      case "-s":
        break;
      case "-I":
        method = "HEAD";
        break;
      case "-X":
        method = words[++i];
        break;
      case "-d":
        data.push(words[++i]);
        break;
      case "-r":
        headers.set("range", `bytes=${words[++i]}`);
        break;
      case "-T":
        method ??= "PUT";
        body = Deno.readFileSync(new URL(`../../../${words[++i]}`, import.meta.url));
        break;
      case "-H": {
        const [name, ...value] = words[++i].split(": ");
        headers.set(name, value.join(": "));
        break;
      }
      default:
        assert.match(words[i], /^http/, `curl knows ${words[i]}, this test does not`);
        url = words[i];
    }
  }
  if (data.length > 0) headers.set("content-type", "application/x-www-form-urlencoded");
  return new Request(url, {
    method: method ?? (data.length > 0 ? "POST" : "GET"),
    headers,
    body: body ?? (data.length > 0 ? data.join("&") : null),
  });
}

Deno.test("README: every line of the walk-through works when pasted", async () => {
  const readme = await Deno.readTextFile(new URL("../../../README.md", import.meta.url));
  const steps = walkThrough(readme);
  assert.ok(steps.filter((step) => step.isCurl).length >= 10);
  const { site } = await sharedApplication();
  const variables = new Map<string, string>();
  for (const step of steps) {
    const words = step.words.map((word) => filled(word, variables));
    if (!step.isCurl) {
      const value = words[0].replace("http://127.0.0.1:8000/", site);
      variables.set(step.variable ?? assert.fail(step.line), value);
      continue;
    }
    const answer = await fetch(request(words));
    const text = await answer.text();
    assert.ok(answer.ok, `${step.line}\n${answer.status} ${text}`);
    if (step.variable && step.member) variables.set(step.variable, String(JSON.parse(text)[step.member]));
    if (step.line.includes('"$LINK"')) assert.equal(text, readme);
    if (words.includes("-r")) assert.equal(text, readme.slice(0, 11));
  }
});

Deno.test("README: its links lead to files that are there, and its tasks exist", async () => {
  const root = new URL("../../../", import.meta.url);
  const readme = await Deno.readTextFile(new URL("README.md", root));
  for (const [, target] of readme.matchAll(/\]\(((?:docs\/|[A-Z]+)[^)]*)\)/g)) await Deno.stat(new URL(target, root));
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  for (const [, task] of readme.matchAll(/deno task (\w+)/g)) assert.ok(tasks[task], task);
});

Deno.test("README: its sample logins are those that the start prints", async () => {
  const readme = await Deno.readTextFile(new URL("../../../README.md", import.meta.url));
  const [, section] = readme.split("## Sample logins");
  const rows = [...section.split("\n## ")[0].matchAll(/^\| `(\S+)` +\| (.*?) +\|$/gm)].map(([, login, what]) => ({
    login,
    what,
  }));
  assert.deepEqual(rows, SAMPLE_LOGINS);
  assert.ok(section.includes(`\`${SAMPLE_PASSWORD}\``));
});

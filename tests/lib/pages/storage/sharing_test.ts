import fc from "fast-check";
import assert from "node:assert/strict";
import { awsCommand, curlCommand, type Reach, reachOf, shellWord } from "@/lib/pages/storage/sharing.ts";

/** The words that bash reads of a line. */
async function wordsOf(line: string): Promise<string[]> {
  const { stdout, success } = await new Deno.Command("bash", {
    args: ["-c", `printf '%s\\0' ${line}`],
    env: { LC_ALL: "C.UTF-8" },
  }).output();
  assert.ok(success, line);
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

const HOSTILE = [
  "plain/name.txt",
  "it's; rm -rf ~",
  "$(touch x)`id`",
  'a\\b"c',
  "line\nbreak",
  "\u001b[201~\nrm -rf ~\n",
  "'\u001b'$(id)",
  "-rf",
  "åäö 🎉",
  "invoice\u202Egpj.exe",
  "*?[a]{b,c}!x",
  "\t1",
  "\u00071",
];

Deno.test("shell words: bash reads every text as one word, as it is", async () => {
  assert.deepEqual(await wordsOf(HOSTILE.map(shellWord).join(" ")), HOSTILE);
  const texts = fc.array(fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\0")), {
    minLength: 1,
    maxLength: 50,
  });
  await fc.assert(
    fc.asyncProperty(texts, async (texts) => {
      assert.deepEqual(await wordsOf(texts.map(shellWord).join(" ")), texts);
    }),
    { numRuns: 20 },
  );
});

Deno.test("shell words: what a terminal would act on is not part of them", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.doesNotMatch(shellWord(text), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }));
});

Deno.test("share commands: the link, and the object by the caller's own keys, saved under a name of the working folder", async () => {
  const url = "http://127.0.0.1:9000/maps/a%20b.txt?X-Amz-Signature=1";
  assert.deepEqual(await wordsOf(curlCommand({ bucket: "maps", key: "1794/it's.txt", url })), [
    "curl",
    "--fail",
    "--globoff",
    "--output",
    "./it's.txt",
    url,
  ]);
  assert.deepEqual(await wordsOf(awsCommand({ bucket: "maps", key: "-a b/..\n", url }) ?? ""), [
    "aws",
    "s3api",
    "get-object",
    "--endpoint-url=http://127.0.0.1:9000",
    "--bucket=maps",
    "--key=-a b/..\n",
    "./.._",
  ]);
  const virtual = { bucket: "maps", key: "a", url: "https://maps.archive.example:8443/a?X=1" };
  assert.match(awsCommand(virtual) ?? "", /--endpoint-url=https:\/\/archive\.example:8443 /);
  for (const [key, name] of [["/", "object"], ["a//", "./a"], ["a:b\\c", "./a_b_c"], ["-x", "./-x"]]) {
    assert.equal((await wordsOf(curlCommand({ bucket: "b", key, url })))[4], name);
  }
});

Deno.test("share commands: a key that the AWS CLI would read from a file, or cannot hold, has no command", () => {
  for (const key of ["file:///etc/passwd", "FILEB://x", "https://a", "a\0b"]) {
    assert.equal(awsCommand({ bucket: "b", key, url: "http://localhost/b" }), null);
  }
});

Deno.test("reach: by the host of a link", () => {
  const hosts: Record<Reach, string[]> = {
    machine: ["127.0.0.1:9000", "localhost", "s3.localhost.", "[::1]:9000", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1"],
    network: [
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.1.1",
      "100.64.0.1",
      "[fd00::1]",
      "[fe80::1]",
      "[::ffff:10.0.0.1]",
      "minio",
      "store.local",
      "s3.internal",
    ],
    anywhere: ["archive.example", "8.8.8.8", "172.32.0.1", "100.128.0.1", "[2001:db8::1]", "LOCALHOST.example"],
  };
  for (const [reach, addresses] of Object.entries(hosts)) {
    for (const host of addresses) assert.equal(reachOf(`http://${host}/b/k?x`), reach, host);
  }
});

import assert from "node:assert/strict";
import { startEmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import { sampleOptions } from "@/embedded/tests/cluster/sample_cluster.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";

/** The path of a kubectl, which judges the embedded cluster; without one these tests are skipped. */
const KUBECTL = Deno.env.get("KUBECTL");

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Kubectl = (args: string, input?: string) => Promise<Outcome>;

async function withKubectl(
  use: (
    kubectl: Kubectl,
    begin: (args: string) => { lines: AsyncIterator<string>; end: () => Promise<void> },
    step: (milliseconds: number) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const cluster = await startEmbeddedCluster({
    ...sampleOptions(),
    conventions: CONVENTIONS.stackroom,
    now: Date.now(),
  });
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/config`, cluster.kubeconfig());
  const command = (args: string) =>
    new Deno.Command(KUBECTL ?? "kubectl", {
      args: args.split(" "),
      env: { KUBECONFIG: `${folder}/config`, HOME: folder },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
  try {
    await use(
      async (args, input = "") => {
        const child = command(args).spawn();
        const writer = child.stdin.getWriter();
        await writer.write(new TextEncoder().encode(input));
        await writer.close();
        const { code, stdout, stderr } = await child.output();
        return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
      },
      (args) => {
        const child = command(args).spawn();
        const decoded = child.stdout.pipeThrough(new TextDecoderStream());
        return {
          lines: linesOf(decoded),
          async end() {
            child.kill("SIGTERM");
            await Promise.all([child.stderr.cancel(), child.stdin.close()]);
            await child.status;
          },
        };
      },
      (milliseconds) => cluster.simulator.step(milliseconds),
    );
  } finally {
    await cluster.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function* linesOf(stream: ReadableStream<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

function judged(name: string, use: Parameters<typeof withKubectl>[0]): void {
  Deno.test({ name: `kubectl: ${name}`, ignore: KUBECTL === undefined, fn: () => withKubectl(use) });
}

function map(data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\ndata: ${data}\n`;
}

judged("lists, pages, selects and describes what there is", async (kubectl) => {
  const jobs = await kubectl("get jobs -l app=campaign-batch -o name");
  assert.equal(jobs.out.trim().split("\n").length, 7, jobs.err);
  const whole = await kubectl("get pods --field-selector status.phase!=Succeeded -o name");
  const paged = await kubectl("get pods --field-selector status.phase!=Succeeded -o name --chunk-size=3");
  assert.equal(paged.out, whole.out);
  assert.match((await kubectl("get jobs")).out, /bergskollegium-1720\s+Complete\s+12\/12/);
  assert.match((await kubectl("api-resources")).out, /configmaps\s+cm\s+v1/);
});

judged("makes ConfigMaps from literals and files", async (kubectl) => {
  assert.equal((await kubectl("create configmap other --from-literal=a=två")).code, 0);
  assert.equal((await kubectl("get configmap other -o jsonpath={.data.a}")).out, "två");
  assert.equal((await kubectl("create -f -", map("{a: b}"))).code, 0);
  assert.match((await kubectl("create -f -", map("{a: b}"))).err, /AlreadyExists/);
  assert.match((await kubectl("create -f -", `${map("{}")}spec: {}\n`)).err, /unknown field "spec"/);
});

judged("applies ConfigMaps on both sides, and is told of conflicts", async (kubectl) => {
  assert.equal((await kubectl("apply -f -", map("{a: one}"))).code, 0);
  assert.match((await kubectl("apply -f -", map("{a: two}"))).out, /configured/);
  const taken = await kubectl("apply --server-side -f -", map("{a: three}"));
  assert.equal(taken.code, 0, taken.err);
  assert.equal((await kubectl("apply --server-side --dry-run=server -f -", map("{a: four}"))).code, 0);
  const refused = await kubectl("apply --server-side --field-manager=other -f -", map("{a: five}"));
  assert.match(refused.err, /Apply failed with 1 conflict: conflict with "kubectl": \.data\.a/);
  const forced = await kubectl("apply --server-side --field-manager=other --force-conflicts -f -", map("{a: five}"));
  assert.equal(forced.code, 0, forced.err);
  assert.equal((await kubectl("get configmap mine -o jsonpath={.data.a}")).out, "five");
});

judged("patches in every way, labels, replaces and deletes", async (kubectl) => {
  await kubectl("create -f -", map("{a: one}"));
  for (
    const args of [
      'patch configmap mine -p {"data":{"a":"two"}}',
      'patch configmap mine --type=merge -p {"data":{"b":"c"}}',
      'patch configmap mine --type=json -p [{"op":"remove","path":"/data/b"}]',
      "label configmap mine team=red",
      "annotate configmap mine note=hej",
    ]
  ) {
    const { code, err } = await kubectl(args);
    assert.equal(code, 0, `${args}: ${err}`);
  }
  const stale = await kubectl("get configmap mine -o json");
  assert.equal((await kubectl("label configmap mine team-")).code, 0);
  assert.match((await kubectl("replace -f -", stale.out)).err, /the object has been modified/);
  assert.equal((await kubectl("delete configmap mine")).code, 0);
  assert.match((await kubectl("get configmap mine")).err, /NotFound/);
});

judged("follows changes, and waits for them", async (kubectl, begin) => {
  await kubectl("create -f -", map("{a: one}"));
  const watch = begin("get configmaps --watch --output-watch-events --field-selector metadata.name=mine");
  const next = async () => (await watch.lines.next()).value;
  assert.match(await next(), /^EVENT/);
  assert.match(await next(), /^ADDED\s+mine\s+1/);
  const waiting = kubectl("wait --for=jsonpath={.data.a}=two configmap/mine --timeout=20s");
  await kubectl('patch configmap mine -p {"data":{"a":"two","b":"c"}}');
  assert.match(await next(), /^MODIFIED\s+mine\s+2/);
  assert.match((await waiting).out, /condition met/);
  await kubectl("delete configmap mine");
  assert.match(await next(), /^DELETED\s+mine/);
  await watch.end();
});

judged("suspends a campaign, and deletes one with its pods", async (kubectl) => {
  assert.equal((await kubectl('patch job svea-hovratt-1870 -p {"spec":{"suspend":true}}')).code, 0);
  assert.equal((await kubectl("get job svea-hovratt-1870 -o jsonpath={.spec.suspend}")).out, "true");
  assert.equal((await kubectl("delete job bergskollegium-1720")).code, 0);
  assert.equal((await kubectl("get pods -l job-name=bergskollegium-1720 -o name")).out, "");
  assert.match((await kubectl("create job x --image=y")).err, /accepted media types include: application\/json/);
});

judged(
  "submits the sample campaign, twice, and follows it to its end",
  async (kubectl, _begin, step) => {
    const file = `-f ${new URL("../../docs/examples/campaign.yaml", import.meta.url).pathname}`;
    const first = await kubectl(`apply ${file}`);
    assert.match(
      first.out,
      /configmap\/campaign-my-first-campaign created\njob.batch\/my-first-campaign created/,
      first.err,
    );
    await step(30_000);
    assert.match((await kubectl("get job my-first-campaign")).out, /my-first-campaign\s+Running\s+0\/5/);
    assert.match((await kubectl(`apply ${file}`)).out, /job.batch\/my-first-campaign unchanged/);
    assert.match((await kubectl(`diff ${file}`)).err, /^$/);
    await step(600_000);
    assert.equal((await kubectl("wait --for=condition=complete job/my-first-campaign --timeout=20s")).code, 0);
  },
);

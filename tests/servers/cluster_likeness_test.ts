import { KubeConfig } from "@kubernetes/client-node";
import assert from "node:assert/strict";
import { startEmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import { sampleOptions } from "@/embedded/tests/cluster/sample_cluster.ts";

/** A kubeconfig of a real cluster, to which the embedded one is compared; without one these tests are skipped. */
const KUBERNETES = Deno.env.get("KUBERNETES_KUBECONFIG");

const NAMESPACE = "batch-default";
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";
const JSON_TYPE = "application/json";

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

type Fetch = (step: Step) => Promise<Response>;

interface Answered {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason: string; readonly field: string }[] };
  readonly data?: unknown;
  readonly metadata?: {
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: unknown;
    readonly managedFields?: readonly { manager: string; operation: string; fieldsV1: unknown }[];
  };
  readonly status?: unknown;
}

/** What both clusters must agree on: not the words of a refusal, times, uids and versions. */
function essence(status: number, { kind, reason, details, data, metadata }: Answered) {
  // What is wrong with a request is a 400 here, also where the real server calls it its own failure.
  const code = status === 500 ? 400 : status;
  if (kind === "Status") {
    const causes = (details?.causes ?? []).map((cause) => `${cause.reason} ${cause.field}`);
    return { code, reason: status === 500 ? "BadRequest" : reason, causes: [...new Set(causes)] };
  }
  // The embedded cluster keeps no owners of other writes than applies.
  const owners = (metadata?.managedFields ?? []).filter(({ operation }) => operation === "Apply")
    .map(({ manager, fieldsV1 }) => ({ manager, fieldsV1 }));
  return { code, kind, data, labels: metadata?.labels, owners };
}

async function outcomes(send: Fetch, steps: readonly ((last: Answered) => Step)[]) {
  const seen = [];
  let last: Answered = {};
  for (const step of steps) {
    const answer = await send(step(last));
    const body: Answered = await answer.json();
    seen.push(essence(answer.status, body));
    if (body.kind === "ConfigMap") last = body;
  }
  return seen;
}

function map(data: Record<string, unknown>, metadata: Record<string, unknown> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "likeness", ...metadata }, data };
}

function apply(query: string, body: unknown): Step {
  return { method: "PATCH", path: `${MAPS}/likeness?${query}`, body, type: APPLY };
}

function patch(query: string, body: unknown, type = MERGE): Step {
  return { method: "PATCH", path: `${MAPS}/likeness?${query}`, body, type };
}

const get = (path: string, accept = JSON_TYPE): Step => ({ method: "GET", path, accept });
const remove: Step = { method: "DELETE", path: `${MAPS}/likeness` };
const create = (body: unknown): Step => ({ method: "POST", path: `${MAPS}?fieldManager=maker`, body, type: JSON_TYPE });

const TABLES: Readonly<Record<string, readonly ((last: Answered) => Step)[]>> = {
  "applies by two managers": [
    () => apply("fieldManager=a", map({ one: "1", both: "x" }, { labels: { l: "1" } })),
    () => apply("fieldManager=a", map({ one: "1", both: "x" }, { labels: { l: "1" } })),
    () => apply("fieldManager=b", map({ two: "2", both: "x" })),
    () => apply("fieldManager=b", map({ two: "2", both: "y" })),
    () => apply("fieldManager=b&force=true", map({ two: "2", both: "y" })),
    () => apply("fieldManager=a", map({ one: "1" })),
    () => remove,
  ],
  "writes of other kinds beside applies": [
    () => create(map({ k: "v", l: "w" }, { labels: { a: "b" } })),
    () => patch("fieldManager=editor", { data: { l: null, m: "n" } }),
    () => patch("fieldManager=editor", { data: { k: "z" } }),
    () => patch("fieldManager=editor", { data: { k: "z" } }),
    () => apply("fieldManager=a&force=true", map({ k: "y" })),
    () => patch("fieldManager=editor", [{ op: "remove", path: "/data/none" }], "application/json-patch+json"),
    () => patch("fieldManager=editor", [{ op: "replace", path: "/data/k", value: "q" }], "application/json-patch+json"),
    () => patch("fieldManager=editor", { data: { s: "t" } }, "application/strategic-merge-patch+json"),
    () => remove,
  ],
  preconditions: [
    () => apply("fieldManager=a", map({ k: "v" })),
    ({ metadata }) =>
      apply("fieldManager=a", map({ k: "w" }, { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion })),
    () => apply("fieldManager=b&force=true", map({ k: "x" }, { resourceVersion: "1" })),
    () => apply("fieldManager=b&force=true", map({ k: "x" }, { resourceVersion: "0" })),
    () => apply("fieldManager=b&force=true", map({ k: "x" }, { uid: "other" })),
    () => patch("fieldManager=b", { metadata: { uid: "other" } }),
    () => patch("fieldManager=b", { metadata: { resourceVersion: "1" }, data: { k: "y" } }),
    () => remove,
    ({ metadata }) => apply("fieldManager=a", map({ k: "v" }, { uid: metadata?.uid })),
    ({ metadata }) => apply("fieldManager=a", map({ k: "v" }, { resourceVersion: metadata?.resourceVersion })),
    () => remove,
  ],
  refusals: [
    () => apply("", map({})),
    () => apply("fieldManager=a", { kind: "ConfigMap", metadata: { name: "likeness" } }),
    () => apply("fieldManager=a", { ...map({}), metadata: {} }),
    () => apply("fieldManager=a", map({}, { name: "other" })),
    () => apply("fieldManager=a", map({}, { namespace: "default" })),
    () => apply("fieldManager=a", map({}, { labels: { l: "two words" } })),
    () => apply("fieldManager=a&fieldValidation=Strict", { ...map({}), spec: 1 }),
    () => apply(`fieldManager=${"m".repeat(129)}`, map({})),
    () => create(map({}, { labels: { l: "v".repeat(64) } })),
    () => create(map({}, { labels: { "a/b/c": "v" } })),
    () => create(map({ "a/b": "" }, {})),
    () => create(map({ k: 1 }, {})),
    () => create(map({}, { name: "Likeness" })),
    () => create(map({}, { resourceVersion: "1" })),
    () => get(`${MAPS}?continue=garbage`),
    () => get(`${MAPS}?resourceVersion=9999999999`),
    () => get(`${MAPS}?labelSelector=%3D`),
    () => get(`${MAPS}?fieldSelector=data.k%3Dv`),
    () => get(`${MAPS}?watch=true&resourceVersion=x`),
    () => get(`${MAPS}?watch=true&sendInitialEvents=true`),
    () => get(MAPS, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
    () => get(`${MAPS}/likeness`),
  ],
};

async function withBoth(use: (embedded: Fetch, real: Fetch) => Promise<void>): Promise<void> {
  const cluster = await startEmbeddedCluster(sampleOptions());
  const config = new KubeConfig();
  config.loadFromFile(KUBERNETES ?? "");
  const { server, caFile } = config.getCurrentCluster() ?? { server: "" };
  const client = Deno.createHttpClient({ caCerts: caFile ? [await Deno.readTextFile(caFile)] : [] });
  const sender = (origin: string, token: string | undefined): Fetch => ({ method, path, body, type, accept }) =>
    fetch(origin + path, {
      method,
      client,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        "user-agent": "likeness/1.0",
        ...(accept && { accept }),
        ...(type && { "content-type": type }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
    });
  const real = sender(server, config.getCurrentUser()?.token);
  try {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
    const made = await real({ method: "POST", path: "/api/v1/namespaces", body: namespace, type: JSON_TYPE });
    await made.body?.cancel();
    const left = await real(remove);
    await left.body?.cancel();
    await use(sender(cluster.url, undefined), real);
  } finally {
    client.close();
    await cluster.close();
  }
}

for (const [name, steps] of Object.entries(TABLES)) {
  Deno.test(
    `embedded cluster, as a real one: ${name}`,
    { ignore: KUBERNETES === undefined },
    () =>
      withBoth(async (embedded, real) => {
        assert.deepEqual(await outcomes(embedded, steps), await outcomes(real, steps));
      }),
  );
}

Deno.test(
  "embedded cluster, as a real one: the events of a watch",
  { ignore: KUBERNETES === undefined },
  () =>
    withBoth(async (embedded, real) => {
      const seen = async (send: Fetch) => {
        const { metadata } = await (await send(get(`${MAPS}?limit=1`))).json();
        const changes = [
          create(map({ k: "v" }, { labels: { colour: "blue" } })),
          patch("", { metadata: { labels: { colour: "red" } } }),
          patch("", { data: { k: "w" } }),
          patch("", { metadata: { labels: { colour: "blue" } } }),
          remove,
        ];
        for (const change of changes) await (await send(change)).body?.cancel();
        const watch = `${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
        const forms = [JSON_TYPE, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"];
        const texts = await Promise.all(
          forms.flatMap((form) =>
            ["", "&labelSelector=colour%3Dred", "&fieldSelector=metadata.name%3Dlikeness"].map(async (selector) =>
              await (await send(get(watch + selector, form))).text()
            )
          ),
        );
        return texts.map((text) =>
          text.trim().split("\n").map((line) => {
            const { type, object } = JSON.parse(line);
            return [type, object.kind, object.metadata.name, object.metadata.labels, object.data];
          })
        );
      };
      assert.deepEqual(await seen(embedded), await seen(real));
    }),
);

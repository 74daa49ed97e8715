import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { type ClusterAddress, clusterConnection, type ClusterOptions } from "@/lib/kubernetes/cluster_address.ts";
import {
  type ClusterConnection,
  clusterReachable,
  ClusterUnavailable,
  connect,
  type ConnectionLimits,
} from "@/lib/kubernetes/connection.ts";
import { ConfigError } from "@/lib/std/start_errors.ts";
import { type Faults, FaultyCluster } from "./faulty_cluster.ts";
import { SERVER, TEST_CA } from "@/tests/lib/http/certificates.ts";
import { untilHolds } from "@/tests/until.ts";
import { kubeconfig, withFile } from "./test_cluster.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

/** Every request gets a response of 200, unless the test chooses another. */
async function withServer(
  use: (cluster: FaultyCluster) => Promise<void>,
  { secure = false, fault = () => Response.json({}) }: { secure?: boolean; fault?: Faults } = {},
): Promise<void> {
  await using cluster = new FaultyCluster(secure ? SERVER : null);
  cluster.fault = fault;
  await use(cluster);
}

function connectTo(address: ClusterAddress, options: Partial<ClusterOptions> = {}) {
  return clusterConnection(address, { now: Date.now, ...options });
}

const GET = { method: "GET", path: "/api/v1/pods" } as const;

Deno.test("connection: a plain server gets requests without credentials, below its own path", () =>
  withServer(async ({ url, requests }) => {
    const connection = await connectTo({ url: `${url}/clusters/a/` });
    const query = new URLSearchParams({ labelSelector: "app=x" });
    const { status, body } = await connection.send({ ...GET, query });
    assert.equal(status, 200);
    assert.equal(new TextDecoder().decode(body), "{}");
    assert.equal(requests[0].path, "/clusters/a/api/v1/pods");
    assert.deepEqual([...requests[0].query], [["labelSelector", "app=x"]]);
    assert.equal(requests[0].headers.get("accept"), "application/json");
    assert.equal(requests[0].headers.get("authorization"), null);
  }));

Deno.test("connection: a kubeconfig's token goes over TLS to a server whose authority it names", async () => {
  await withServer(async ({ url, requests }) => {
    const cluster = { server: url, "certificate-authority-data": Buffer.from(TEST_CA).toString("base64") };
    await withFile(kubeconfig({ cluster, user: { token: "secret-token" } }), async (path) => {
      // Slower than a connection may be: once it is established, a response has more time.
      const connection = await connectTo({ path }, { limits: { connectMs: 1_000 } });
      assert.equal((await connection.send(GET)).status, 200);
    });
    assert.equal(requests[0].headers.get("authorization"), "Bearer secret-token");
  }, {
    secure: true,
    fault: () => new Promise((resolve) => setTimeout(() => resolve(Response.json({})), 1_100)),
  });
});

Deno.test("connection: an unknown authority is rejected unless it is configured beside the system's", () =>
  withServer(async ({ url, requests }) => {
    await withFile(kubeconfig({ cluster: { server: url }, user: { token: "secret-token" } }), async (path) => {
      const connection = await connectTo({ path });
      await assert.rejects(connection.send(GET), ClusterUnavailable);
      assert.equal(requests.length, 0);
      const trusting = await connectTo({ path }, { caCerts: [TEST_CA] });
      assert.equal((await trusting.send(GET)).status, 200);
    });
  }, { secure: true }));

Deno.test("connection: a token file is read beside its kubeconfig's user, basic credentials are sent too", () =>
  withServer(async ({ url, requests }) => {
    const cluster = { server: url, "insecure-skip-tls-verify": true };
    const user = { username: "anna", password: "åäö" };
    await withFile(kubeconfig({ cluster, user }), async (path) => {
      await (await connectTo({ path })).send(GET);
    });
    await withFile("token-in-a-file", async (tokenFile) => {
      const provider = { "auth-provider": { name: "tokenFile", config: { tokenFile } } };
      await withFile(kubeconfig({ cluster, user: provider }), async (path) => {
        await (await connectTo({ path })).send(GET);
      });
    });
    assert.deepEqual(requests.map(({ headers }) => headers.get("authorization")), [
      `Basic ${Buffer.from("anna:åäö").toString("base64")}`,
      "Bearer token-in-a-file",
    ]);
  }));

Deno.test("connection: a server's URL may hold basic credentials, which a token replaces", () =>
  withServer(async ({ url, requests }) => {
    const server = url.replace("://", "://an%20na:p%40ss@");
    for (const user of [{}, { token: "t" }]) {
      await withFile(kubeconfig({ cluster: { server }, user }), async (path) => {
        await (await connectTo({ path })).send(GET);
      });
    }
    const basic = `Basic ${Buffer.from("an na:p@ss").toString("base64")}`;
    assert.deepEqual(requests.map(({ headers }) => headers.get("authorization")), [basic, "Bearer t"]);
  }));

Deno.test("connection: a plugin runs once for many requests, again after half a minute and after a 401", async () => {
  let status = 200;
  await withServer(async ({ url, requests }) => {
    const folder = await Deno.makeTempDir();
    using _removal = removeAtEnd(folder);
    const script = `echo x >> ${folder}/runs; printf '{"status":{"token":"t%s"}}' $(wc -l < ${folder}/runs)`;
    const user = { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", script] } };
    const cluster = { server: url, "insecure-skip-tls-verify": true };
    await Deno.writeTextFile(`${folder}/config`, kubeconfig({ cluster, user }));
    let now = 0;
    const connection = await connectTo({ path: `${folder}/config` }, { now: () => now });
    await Promise.all([connection.send(GET), connection.send(GET)]);
    now = 29_999;
    await connection.send(GET);
    now = 30_001;
    status = 401;
    await connection.send(GET);
    await connection.send(GET);
    const tokens = requests.map(({ headers }) => headers.get("authorization"));
    assert.deepEqual(tokens, ["Bearer t1", "Bearer t1", "Bearer t1", "Bearer t2", "Bearer t3"]);
  }, { fault: () => status });
});

Deno.test("connection: a plugin that fails, and a server that is away, are one condition without their words", async () => {
  const cluster = { server: "http://127.0.0.1:1", "insecure-skip-tls-verify": true };
  const failing = { exec: { command: "sh", args: ["-c", "echo secret-words >&2; exit 1"] } };
  for (const user of [{}, failing]) {
    await withFile(kubeconfig({ cluster, user }), async (path) => {
      const connection = await connectTo({ path });
      await assert.rejects(connection.send(GET), (error) => {
        assert.ok(error instanceof ClusterUnavailable);
        assert.equal(error.status, 502);
        assert.equal(error.detail, "the cluster did not answer");
        return true;
      });
    });
  }
});

Deno.test("connection: several kubeconfigs are merged, the first that names a context decides", () =>
  withServer(async ({ url, requests }) => {
    const users = JSON.stringify({ users: [{ name: "u", user: { token: "from-another-file" } }] });
    const cluster = { server: url, "insecure-skip-tls-verify": true };
    const rest = JSON.stringify({ ...JSON.parse(kubeconfig({ cluster })), users: [] });
    await withFile(users, async (first) => {
      await withFile(rest, async (second) => {
        const connection = await connectTo({ path: `${first}:${second}` });
        await connection.send(GET);
      });
    });
    assert.equal(requests[0].headers.get("authorization"), "Bearer from-another-file");
  }));

Deno.test("connection: a configuration that cannot be used ends the start with a line that quotes nothing of it", async () => {
  const useless = [
    "",
    "token: [secret-token",
    "secret-token",
    "{}",
    kubeconfig({ cluster: {} }),
    kubeconfig({ cluster: { server: "no address" }, user: { token: "secret-token" } }),
    JSON.stringify({ ...JSON.parse(kubeconfig({ cluster: { server: "https://a" } })), users: [] }),
    JSON.stringify({ ...JSON.parse(kubeconfig({ cluster: { server: "https://a" } })), "current-context": "other" }),
  ];
  for (const text of useless) {
    await withFile(text, async (path) => {
      await assert.rejects(connectTo({ path }), (error) => {
        assert.ok(error instanceof ConfigError, `${text}: ${error}`);
        assert.match(error.message, /^KUBECONFIG: is no kubeconfig/);
        return !error.message.includes("secret-token");
      }, text);
    });
  }
  await assert.rejects(connectTo({ path: "/nowhere/config" }), /KUBECONFIG: is no kubeconfig/);
});

const LIMITS: ConnectionLimits = { connectMs: 5000, idleMs: 5000, totalMs: 5000, maxBytes: 1000 };

type Ask = (limits?: Partial<ConnectionLimits>, signal?: AbortSignal) => ReturnType<ClusterConnection["send"]>;

function asker(server: string): Ask {
  const agent = server.startsWith("https:") ? new SecureAgent() : new Agent();
  const credentials = () => Promise.resolve({ agent, headers: {} });
  return (limits, signal) =>
    connect({ server, credentials }, { now: Date.now, limits: { ...LIMITS, ...limits } })
      .send({ method: "GET", path: "/api", query: new URLSearchParams({ limit: "5" }), signal });
}

const asking = (fault: Faults, use: (ask: Ask) => Promise<void>) => withServer(({ url }) => use(asker(url)), { fault });

function failsWith(message: RegExp) {
  return (error: unknown) =>
    error instanceof ClusterUnavailable && error.cause instanceof Error && message.test(error.cause.message);
}

Deno.test("connection: a body beyond the limit is cancelled while it comes", async () => {
  let cancelled = false;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(400)),
        cancel: () => {
          cancelled = true;
        },
      }),
    );
  await asking(endless, async (ask) => {
    await assert.rejects(ask(), failsWith(/more than 1000 bytes/));
  });
  assert.ok(cancelled);
});

Deno.test("connection: the idle timeout ends a response that does not begin, and one that stops in the middle", async () => {
  await asking(() => "hang", async (ask) => {
    await assert.rejects(ask({ idleMs: 50 }), failsWith(/upstream timeout/));
  });
  const stalled = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) }));
  await asking(stalled, async (ask) => {
    // On a slow machine the head of the response may be late as well, which is the other failure.
    await untilHolds(() => assert.rejects(ask({ idleMs: 50 }), failsWith(/nothing for 50 ms/)));
  });
});

Deno.test("connection: the total timeout ends a response that drips for ever", async () => {
  const timers: ReturnType<typeof setInterval>[] = [];
  const dripping = () => {
    let drip: ReturnType<typeof setInterval> | undefined;
    const body = new ReadableStream({
      start(controller) {
        drip = setInterval(() => controller.enqueue(new Uint8Array(1)), 5);
        timers.push(drip);
      },
      cancel: () => clearInterval(drip),
    });
    return new Response(body);
  };
  try {
    await asking(dripping, async (ask) => {
      // The total also bounds the wait for the head, whose failure is another one.
      await untilHolds(() => assert.rejects(ask({ totalMs: 100, idleMs: 5000 }), failsWith(/nothing for/)));
    });
  } finally {
    timers.forEach(clearInterval);
  }
});

Deno.test("connection: an aborted signal cancels a body that is still coming", async () => {
  const stop = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  const unfinished = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(10));
          setTimeout(() => stop.abort());
        },
        cancel: () => cancelled.resolve(),
      }),
    );
  await asking(unfinished, async (ask) => {
    await assert.rejects(ask({}, stop.signal), ClusterUnavailable);
    await cancelled.promise;
  });
});

Deno.test("connection: a connection that is not established in time is unavailable", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  // It accepts and does not begin TLS, so that the connection never stands.
  const accepting = listener.accept().catch(() => null);
  const ask = asker(`https://127.0.0.1:${listener.addr.port}`);
  await assert.rejects(ask({ connectMs: 50 }), failsWith(/upstream timeout/));
  // On a slow machine the time is over before there is a connection to accept.
  listener.close();
  (await accepting)?.close();
});

Deno.test("cluster reachable: only a server that returns its version is", async () => {
  const answering = (status: number, text = '{"gitVersion":"v1.36.3"}') => ({
    send: () => Promise.resolve({ status, body: new TextEncoder().encode(text) }),
  });
  assert.equal(await clusterReachable(answering(200)), true);
  for (const text of ["", "<html>", "null", "{}", '{"gitVersion":1}']) {
    assert.equal(await clusterReachable(answering(200, text)), false, text);
  }
  for (const status of [401, 403, 500, 503]) assert.equal(await clusterReachable(answering(status)), false);
  assert.equal(await clusterReachable({ send: () => Promise.reject(new ClusterUnavailable("away")) }), false);
});

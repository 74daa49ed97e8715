/** The thread of the embedded cluster and archive: moving campaigns never delays the site. */
import { z } from "zod";
import { type EmbeddedArchive, startEmbeddedArchive } from "@/embedded/archive/archive_server.ts";
import { SAMPLES_EDITION } from "@/embedded/archive/catalogue.ts";
import { type EmbeddedCluster, startEmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import type { ResultsWriter } from "@/embedded/cluster/outbox.ts";
import { sampleVolumes } from "@/embedded/cluster/sample_campaigns.ts";
import type { SimulatorSnapshot } from "@/embedded/cluster/simulator.ts";
import { isNoSpace } from "@/embedded/store/store_error.ts";
import { callsOver, ownPort } from "@/embedded/threads.ts";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import type { Conventions } from "@/lib/campaigns/projection/conventions.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";
import { deleteKeys } from "@/lib/s3/delete_objects.ts";
import { endsWithin } from "@/lib/std/body_reader.ts";
import { presigner } from "@/lib/s3/presign.ts";
import { textIfExists, writeDurably } from "@/lib/std/files.ts";
import { isObject, parsedJson } from "@/lib/std/untrusted.ts";

export interface ClusterThreadOptions {
  readonly host: string;
  readonly namespace: string;
  readonly conventions: Conventions;
  readonly seed: number;
  readonly speed: number;
  /** Base of the result URLs in the files, without a trailing slash. */
  readonly resultsUrl: string;
  /** The folder in which the cluster's state is stored. */
  readonly folder: string;
  /** Where workers write their results, and as whom; null: nowhere. */
  readonly results: {
    readonly endpoint: string;
    readonly tenant: string;
    readonly bucket: string;
    readonly username: string;
    readonly password: string;
  } | null;
}

/** The calls that this thread serves; `start` comes first. */
export type ClusterCalls = typeof CALLS;

/** State of the cluster that outlives the process; earlier files hold the archive's address. */
const KEPT_STATE = z.object({
  /** The other settings of the snapshot: with others it is discarded. */
  settings: z.string(),
  archivePort: z.int(),
  clusterPort: z.int(),
  /** Checked by the simulator. */
  snapshot: z.custom<SimulatorSnapshot>(isObject),
});
type KeptState = z.output<typeof KEPT_STATE>;

/** How often the state is written while the campaigns move, in ms. */
const KEEP_EVERY_MS = 15_000;
const LOOK_EVERY_MS = 250;

/** How long a stop waits for the files that are on their way, in ms. */
const DRAIN_MS = 2000;

const WRITE_URL_SECONDS = 300;
/** Until the response headers of a removal, ms. */
const STORE_TIMEOUT_MS = 30_000;

let stop = () => Promise.resolve();

const CALLS = { start, stop: () => stop() };

callsOver(await ownPort(), CALLS);

async function start(options: ClusterThreadOptions): Promise<{ url: string; kubeconfig: string }> {
  const { host, seed, folder } = options;
  const statePath = `${folder}/cluster.json`;
  const kept = readState(statePath);
  const volumes = sampleVolumes(seed);
  const archive = await onKeptPort(
    kept?.archivePort,
    (port) => startEmbeddedArchive({ http: LOCAL_HTTP, host, port, seed, volumes }),
  );
  const settings = JSON.stringify([options.namespace, options.conventions, seed, SAMPLES_EDITION]);
  const isSame = kept?.archivePort === archive.port && kept.settings === settings;
  const begin = (restored: SimulatorSnapshot | undefined) =>
    onKeptPort(kept?.clusterPort, (port) =>
      startEmbeddedCluster({
        ...options,
        http: LOCAL_HTTP,
        port,
        archiveUrl: archive.url,
        now: Date.now(),
        writer: resultsWriter(options.results),
        restored,
        onUnwritten,
      }));
  const cluster = await begin(isSame ? kept.snapshot : undefined).catch((error) => {
    if (!isSame) throw error;
    console.error(`The state in ${statePath} is damaged (${error.message}): the samples begin anew.`);
    return begin(undefined);
  });
  // Only a state whose files are all in the store: after a restart, what was still on its way would never be written.
  let keptAt = Date.now();
  const keep = () => {
    if (cluster.simulator.outbox.waiting > 0) return;
    keepState(statePath, settings, archive, cluster);
    keptAt = Date.now();
  };
  let isUnkept = false;
  /** A full disk ends nothing: the samples go on, and what they did since is done again after a restart. */
  const keepIfRoom = () => {
    try {
      keep();
      isUnkept = false;
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      if (!isUnkept) console.error(`embedded cluster: its state is not kept: the disk of ${folder} is full`);
      isUnkept = true;
      keptAt = Date.now();
    }
  };
  // Looked at often: fast campaigns have all their files in the store only now and then.
  const keeping = setInterval(() => {
    if (Date.now() - keptAt >= KEEP_EVERY_MS) keepIfRoom();
  }, LOOK_EVERY_MS);
  cluster.simulator.run((error) =>
    console.error(`embedded cluster: ${error instanceof Error ? error.message : error}`)
  );
  stop = async () => {
    clearInterval(keeping);
    cluster.simulator.stop();
    await endsWithin(DRAIN_MS, cluster.simulator.outbox.drain());
    keepIfRoom();
    await Promise.all([cluster.close(), archive.close()]);
  };
  return { url: cluster.url, kubeconfig: cluster.kubeconfig() };
}

/** Starts a server on the port of last time, or on any when another program took it meanwhile. */
async function onKeptPort<S>(port: number | undefined, startServer: (port: number) => S | Promise<S>): Promise<S> {
  if (port === undefined) return await startServer(0);
  try {
    return await startServer(port);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return await startServer(0);
    throw error;
  }
}

function keepState(path: string, settings: string, archive: EmbeddedArchive, cluster: EmbeddedCluster): void {
  const state: KeptState = {
    settings,
    archivePort: archive.port,
    clusterPort: cluster.port,
    snapshot: cluster.simulator.snapshot(),
  };
  writeDurably(path, new TextEncoder().encode(JSON.stringify(state)));
}

/** The last stored state; null for a missing or damaged file: the samples start again. */
function readState(path: string): KeptState | null {
  return KEPT_STATE.safeParse(parsedJson(textIfExists(path) ?? "")).data ?? null;
}

/** The store took no more of the workers' files; they are retained and tried again. */
class FullStore extends Error {
  override name = "FullStore";
}

/** A full disk does not end a start: what is there can be read, and deleted. */
function onUnwritten(error: unknown): void {
  if (!(error instanceof FullStore)) throw error;
  console.error(`embedded cluster: ${error.message}`);
}

/** Workers write through S3, as they do in a real cluster. */
function resultsWriter(results: ClusterThreadOptions["results"]): ResultsWriter {
  if (!results) return { put: () => Promise.resolve(), remove: () => Promise.resolve() };
  const { endpoint, bucket, tenant, username, password } = results;
  const addresses = { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) };
  const upstream = upstreamClient({ verifyTls: true, timeoutMs: STORE_TIMEOUT_MS });
  const s3 = { addresses, region: "us-east-1", now: Date.now, upstream };
  const identify = storeIdentities("native");
  const converter = () => identify({ sub: username, pwd: password, tenant });
  return {
    async remove(keys) {
      const { errors: [error] } = await deleteKeys(s3, await converter(), bucket, keys);
      if (error) throw new Error(`${error.Key} was not removed: the store answered ${error.Code}`);
    },
    async put({ key, body, contentType }) {
      const caller = await converter();
      const urls = { bucket, method: "put_object", expiresSeconds: WRITE_URL_SECONDS } as const;
      const presign = await presigner(s3, caller, urls);
      const answer = await fetch(presign({ key }), {
        method: "PUT",
        headers: { "content-type": contentType },
        body: new Uint8Array(body()),
      });
      await answer.body?.cancel();
      if (answer.status === 507) throw new FullStore(`${key} was not written: the disk of the store is full`);
      if (!answer.ok) throw new Error(`${key} was not written: the store answered ${answer.status}`);
    },
  };
}

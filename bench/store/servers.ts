import { randomUUID } from "node:crypto";
import { startServerProcess } from "@/bench/server_process.ts";
import { embeddedServer, type S3Server, S3Wire } from "@/bench/wire/s3_wire.ts";
import { startApplication } from "@/tests/application.ts";

/** A measured server in a separate process. */
export interface MeasuredServer extends S3Server {
  name: string;
  /** Null for servers that somebody else started. */
  pid: number | null;
  bucket: string;
  stop(): Promise<void>;
}

/** The bucket of the embedded store that is written to: a sample one, without versions. */
export const SAMPLE_BUCKET = "letters";

/** The application of this tree with its embedded store, over a folder that stays. */
export async function startEmbedded(dataFolder: string): Promise<MeasuredServer> {
  const application = await startApplication({ dataFolder });
  return {
    ...embeddedServer(dataFolder),
    name: "stackroom",
    pid: application.pid,
    bucket: SAMPLE_BUCKET,
    stop: async () => void await application.stop(),
  };
}

/** The floor; it looks at no signature. */
export async function startFloor(folder: string): Promise<MeasuredServer> {
  const { line, pid, stop } = await startServerProcess("bench/floor_server.ts", [folder]);
  return { name: "floor", origin: line, keys: { accessKey: "none", secretKey: "none" }, pid, bucket: "floor", stop };
}

/** The servers whose addresses are in the environment: `BENCH_MINIO_URL`, `…_ACCESS_KEY`, `…_SECRET_KEY`, and the same of VERSITYGW. */
export async function givenServers(): Promise<MeasuredServer[]> {
  const servers: MeasuredServer[] = [];
  for (const name of ["minio", "versitygw"]) {
    const setting = (what: string) => Deno.env.get(`BENCH_${name.toUpperCase()}_${what}`) ?? "";
    if (!setting("URL")) continue;
    const keys = { accessKey: setting("ACCESS_KEY"), secretKey: setting("SECRET_KEY") };
    const server = { origin: setting("URL").replace(/\/$/, ""), keys };
    const bucket = `bench-${randomUUID()}`;
    const wire = new S3Wire(server);
    await wire.succeed({ method: "PUT", bucket });
    wire.close();
    servers.push({ ...server, name, bucket, pid: null, stop: () => Promise.resolve() });
  }
  return servers;
}

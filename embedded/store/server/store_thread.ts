/** The thread of the embedded store, so that its work never delays responses of the site and the gateway. */
import type { Document } from "@/embedded/store/documents.ts";
import { ownPort } from "@/embedded/threads.ts";
import type { FailedLogin, ReportedChange, StoreReports } from "@/embedded/store/reported_change.ts";
import { type LevelAddress, StoreServer, type StoreServerOptions } from "./store_server.ts";

/** Messages to the thread. Each response carries the id of its request. */
export type StoreRequest =
  | { id: number; start: StoreServerOptions } // the writer's port comes with it
  | { id: number; address: string | null }
  | { id: number; allowOrigins: readonly string[] }
  | { id: number; isFull: true }
  | { id: number; auditEnd: "read" | Document }
  | { id: number; drain: true }
  | { id: number; stop: true }
  /** What became of a report. */
  | { report: number; isRecorded: boolean };

/** Messages from the thread. */
export type StoreResponse =
  | { id: number; address: LevelAddress | null }
  | { id: number; isFull: boolean }
  | { id: number; auditEnd: Document | null }
  | { id: number; failed: string }
  | { report: number; changed: readonly ReportedChange[] }
  | { loginFailed: FailedLogin };

type NumberedRequest = Extract<StoreRequest, { id: number }>;

const port = await ownPort();
let server: StoreServer | null = null;
/** Reports that the main thread has not answered yet. */
const reports = new Map<number, (isRecorded: boolean) => void>();
let lastReport = 0;

const toMain: StoreReports = {
  async changed(changes) {
    const report = ++lastReport;
    const isRecorded = await new Promise<boolean>((resolve) => {
      reports.set(report, resolve);
      send({ report, changed: changes });
    });
    if (!isRecorded) throw new Error("not recorded");
  },
  loginFailed: (login) => send({ loginFailed: login }),
};

function send(message: StoreResponse): void {
  port.postMessage(message);
}

async function handle(request: NumberedRequest, ports: readonly MessagePort[]): Promise<StoreResponse> {
  if ("isFull" in request) return { id: request.id, isFull: await server?.isFull() ?? false };
  if ("auditEnd" in request) {
    if (request.auditEnd !== "read") await server?.noteAuditEnd(request.auditEnd);
    return { id: request.id, auditEnd: server?.auditEnd ?? null };
  }
  if ("start" in request) server = await StoreServer.start(request.start, ports[0], toMain);
  else if ("allowOrigins" in request) server?.allowOrigins(request.allowOrigins);
  else if ("drain" in request) await server?.drain();
  else if ("stop" in request) await server?.stop();
  return { id: request.id, address: "address" in request ? server?.address(request.address) ?? null : null };
}

port.onmessage = async ({ data, ports }: MessageEvent<StoreRequest>) => {
  if ("report" in data) {
    reports.get(data.report)?.(data.isRecorded);
    reports.delete(data.report);
    return;
  }
  try {
    send(await handle(data, ports));
  } catch (error) {
    send({ id: data.id, failed: error instanceof Error ? error.message : String(error) });
  }
};

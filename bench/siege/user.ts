import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";

const BUCKET = "siege";
const BUCKETS = "api/v1/buckets";
const OBJECTS = `${BUCKETS}/${BUCKET}/objects`;
const OBJECT = `${OBJECTS}/k`;
const ROUND = [["HEAD", OBJECT], ["GET", OBJECT], ["GET", OBJECTS], ["GET", "results/_session"]];
const OBJECT_BYTES = 1024;
/** Between two requests, ms: the user waits for the server, not the server for the user. */
const PAUSE_MS = 5;

/** A user's experience: the duration of each response, ms, and the number of wrong ones. */
export interface Experience {
  readonly durations: number[];
  failures: number;
}

/** A user with a valid account who asks for one thing after the other. */
export class SiegeUser {
  readonly #site: string;
  readonly #headers: Record<string, string>;
  #sent = 0;

  private constructor(site: string, token: string, cookie: string) {
    this.#site = site;
    this.#headers = { Authorization: `Bearer ${token}`, Cookie: cookie };
  }

  /** Logs in to both roles and writes the objects that are read later. */
  static async logIn(site: string): Promise<SiegeUser> {
    const login = await fetch(`${site}api/v1/auth/token`, {
      method: "POST",
      body: new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD }),
    });
    const session = await fetch(`${site}results/_login`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: new URL(site).origin },
      body: JSON.stringify({ username: "curator", password: SAMPLE_PASSWORD }),
    });
    const cookie = (session.headers.get("Set-Cookie") ?? "").split(";", 1)[0];
    const user = new SiegeUser(site, (await login.json()).access_token, cookie);
    await user.#send("POST", BUCKETS, JSON.stringify({ bucket: BUCKET }));
    await user.#send("PUT", OBJECT, new Uint8Array(OBJECT_BYTES));
    return user;
  }

  /** HEAD and GET of a small object, a listing and the session in turn, until told to stop. */
  async use(stop: AbortSignal): Promise<Experience> {
    const experience: Experience = { durations: [], failures: 0 };
    while (!stop.aborted) {
      const began = performance.now();
      const status = await this.request().catch(() => 0);
      experience.durations.push(performance.now() - began);
      if (status !== 200) experience.failures++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return experience;
  }

  /** Sends the next request of the round and returns its status. */
  request(): Promise<number> {
    const [method, path] = ROUND[this.#sent++ % ROUND.length];
    return this.#send(method, path);
  }

  async #send(method: string, path: string, body?: BodyInit): Promise<number> {
    const response = await fetch(this.#site + path, { method, headers: this.#headers, body });
    await response.bytes();
    return response.status;
  }
}

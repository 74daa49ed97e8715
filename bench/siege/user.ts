import { SAMPLE_PASSWORD } from "@/lib/embedded/store/samples.ts";

const BUCKET = "siege";
const OBJECT_BYTES = 1024;
/** Between two requests, ms: the user waits for the server, not the server for the user. */
const PAUSE_MS = 5;

/** What a user got: how long each answer took, ms, and how many were not what they should be. */
export interface Experience {
  readonly durations: number[];
  failures: number;
}

/** A user with a valid account who asks for one thing after the other. */
export class SiegeUser {
  readonly #site: string;
  readonly #headers: Record<string, string>;

  private constructor(site: string, token: string) {
    this.#site = site;
    this.#headers = { Authorization: `Bearer ${token}` };
  }

  /** Logs in and writes what is read later. */
  static async logIn(site: string): Promise<SiegeUser> {
    const login = await fetch(`${site}api/v1/auth/token`, {
      method: "POST",
      body: new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD }),
    });
    const user = new SiegeUser(site, (await login.json()).access_token);
    await user.#send("POST", "", JSON.stringify({ bucket: BUCKET }));
    await user.#send("PUT", `/${BUCKET}/objects/k`, new Uint8Array(OBJECT_BYTES));
    return user;
  }

  /** HEAD, GET of a small object and a listing in turn, until told to stop. */
  async use(stop: AbortSignal): Promise<Experience> {
    const experience: Experience = { durations: [], failures: 0 };
    const requests = [["HEAD", `/${BUCKET}/objects/k`], ["GET", `/${BUCKET}/objects/k`], ["GET", `/${BUCKET}/objects`]];
    for (let n = 0; !stop.aborted; n++) {
      const [method, path] = requests[n % requests.length];
      const began = performance.now();
      const status = await this.#send(method, path).catch(() => 0);
      experience.durations.push(performance.now() - began);
      if (status !== 200) experience.failures++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return experience;
  }

  async #send(method: string, path: string, body?: BodyInit): Promise<number> {
    const response = await fetch(`${this.#site}api/v1/buckets${path}`, { method, headers: this.#headers, body });
    await response.bytes();
    return response.status;
  }
}

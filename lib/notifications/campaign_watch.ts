import { campaignNews, type CampaignState, readRemembered, type Remembered, rememberedText } from "./campaign_news.ts";
import type { Notifier } from "./notifier.ts";

const NOTE = "campaigns";

interface CampaignWatchOptions {
  readonly notifier: Pick<Notifier, "notify" | "remember" | "remembered" | "wants">;
  /** All campaigns, newest first; throws where the cluster cannot be read. */
  readonly read: () => Promise<readonly CampaignState[]>;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Reports what becomes of campaigns. */
export class CampaignWatch {
  readonly #options: CampaignWatchOptions;
  /** Undefined before the first look. */
  #remembered: Remembered | null | undefined;

  constructor(options: CampaignWatchOptions) {
    this.#options = options;
  }

  /** Compares the campaigns with those of the look before, of an earlier process too. Never throws. */
  async look(): Promise<void> {
    const { notifier, read, now } = this.#options;
    this.#remembered ??= readRemembered(await notifier.remembered(NOTE));
    const before = this.#remembered;
    let campaigns: readonly CampaignState[];
    try {
      campaigns = await read();
    } catch {
      // The probe of the readiness and the metrics report it.
      return;
    }
    const { events, remembered } = campaignNews(before, campaigns, (type) => notifier.wants(type), now());
    for (const event of events) await notifier.notify(event);
    if (remembered === before) return;
    this.#remembered = remembered;
    // After the events: a process that ends between the two finds them again, and they are known by their ids.
    await notifier.remember(NOTE, rememberedText(remembered));
  }
}

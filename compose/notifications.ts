import { createHash } from "node:crypto";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { type Config, ConfigError, type NotificationsConfig } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { campaignLook } from "@/lib/operations/notifications/campaign_news.ts";
import { diskLook } from "@/lib/operations/notifications/disk_watch.ts";
import { type EndedCheck, fixityNews } from "@/lib/operations/notifications/fixity_news.ts";
import { type Channel, NotificationQueue, Notifier } from "@/lib/operations/notifications/notifier.ts";
import { parseWebhookSecrets, webhook, WEBHOOK_TIMEOUT_MS } from "@/lib/operations/notifications/webhook.ts";
import { isInTrouble, isSettled } from "@/lib/pages/campaigns/campaign_state.ts";
import { campaignPath } from "@/lib/pages/page_paths.ts";
import { fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import type { DiskRoom } from "@/lib/process/disk_room.ts";
import { sleep } from "@/lib/std/timing.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";
import { caCertificates, textOf, upstream } from "./shared.ts";
import { openOwnTasks, openRedisTasks } from "./tasks.ts";

/** The file of the queue in the data folder; SQLite adds `-wal`. */
const NOTIFICATIONS_FILE = "notifications.db";
/** Time between two looks at campaigns that are followed, ms: a look reads what is in memory. */
const FOLLOWED_MS = 5_000;
/** The same where each look lists the cluster. */
const LISTED_MS = 60_000;
/** Time between two looks at the disk, ms. */
const DISK_MS = 60_000;
/** Campaigns whose Job is gone that are looked at, those that ended last. */
const REAPED = 200;

/** The subjects of notifications; null: this process does not have it. */
interface NotificationSources {
  readonly campaigns: CampaignSource | null;
  /** The disk of the data folder. */
  readonly disk: DiskRoom | null;
  readonly diskIsFull: (() => Promise<boolean>) | null;
}

/**
 * Opens the queue of notifications: a file in the data folder, else Redis where it is configured, else memory.
 *
 * @throws {ConfigError}
 */
export async function openNotifications(
  config: Config,
  settings: NotificationsConfig,
  folder: DataFolder | null,
  log: RequestLog,
) {
  const channels = await channelsOf(config, settings);
  const notifier = new Notifier({
    channels,
    types: settings.events,
    queue: new NotificationQueue(await openStore(config, settings, channels, folder)),
    memory: new NotificationQueue(openOwnTasks(null, NOTIFICATIONS_FILE, console.error)),
    log,
  });
  const site = config.server.publicOrigin;
  // A notification does not say whose a check is: its page is that of the newest login of the reader.
  const linkOf = ({ bucket, id, progress }: EndedCheck) =>
    site === null ? null : site + fixityPath(progress ? { account: "", bucket, task: id } : { account: "" });
  let stopLooks: (() => Promise<void>)[] = [];
  return {
    /** Reports fixity checks that have ended. Never throws. */
    fixityEnded: fixityNews({ notifier, linkOf, now: Date.now }),
    figures: notifier.figures,
    /** Sends what is queued, and looks for what is new. */
    start({ campaigns, disk, diskIsFull }: NotificationSources) {
      notifier.start();
      const hasCampaigns = notifier.wants("campaign.ended") || notifier.wants("campaign.trouble");
      if (campaigns && hasCampaigns) stopLooks.push(watchCampaigns(config, notifier, campaigns));
      if (disk && folder) {
        const isFull = diskIsFull ?? (() => Promise.resolve(false));
        const look = diskLook({ notifier, folder: folder.path, disk, isFull, now: Date.now });
        stopLooks.push(lookRegularly(look, () => DISK_MS));
      }
    },
    /** Within so many ms. */
    async stop(ms: number) {
      await Promise.all(stopLooks.map((stop) => stop()));
      stopLooks = [];
      await notifier.stop(ms);
    },
  };
}

async function channelsOf(config: Config, { webhooks, mail }: NotificationsConfig): Promise<Channel[]> {
  const channels: Channel[] = [];
  if (webhooks) {
    const secrets = parseWebhookSecrets(textOf(webhooks.secrets));
    if (secrets === null) throw new ConfigError("NOTIFY_WEBHOOK_SECRET_FILE", "has changed and holds no secret now");
    const client = upstream(config, true, WEBHOOK_TIMEOUT_MS, {});
    for (const url of webhooks.urls) channels.push(webhook({ url, secrets, client, now: Date.now }));
  }
  if (mail) {
    // Loaded only here: most starts send no mail.
    const { mail: mailChannel } = await import("@/lib/operations/notifications/mail.ts");
    const { from, to, login } = mail;
    const server = {
      ...mail.server,
      login: login && { user: login.user, password: textOf(login.password).trim() },
    };
    channels.push(mailChannel({ server, from, to, caCerts: caCertificates(config) }));
  }
  return channels;
}

async function openStore(
  config: Config,
  { redisUrl }: NotificationsConfig,
  channels: readonly Channel[],
  folder: DataFolder | null,
): Promise<TaskStore> {
  // A process with a data folder is the only one that reports what is in it.
  if (folder || redisUrl === null) return openOwnTasks(folder, NOTIFICATIONS_FILE, console.error);
  const receivers = channels.map(({ name }) => name).sort().join(" ");
  const deployment = `notifications-${createHash("sha256").update(receivers).digest("hex").slice(0, 16)}`;
  // The notifier reports that the queue cannot be used.
  return (await openRedisTasks(config, redisUrl, deployment, console.error)).store;
}

/** @returns ends it */
function watchCampaigns(config: Config, notifier: Notifier, source: CampaignSource): () => Promise<void> {
  // Not the lists of the pages: those write status records.
  const lists = new CampaignLists(source);
  const site = config.server.publicOrigin;
  const look = campaignLook({
    notifier,
    async read() {
      const { jobs } = await lists.list({ resultsUrl: "", reaped: REAPED });
      return jobs.map((job) => ({
        ...job,
        isEnded: isSettled(job),
        isInTrouble: isInTrouble(job),
        link: site === null ? null : site + campaignPath(job.namespace, job.name),
      }));
    },
    now: Date.now,
  });
  return lookRegularly(look, () => source.age() === 0 ? LISTED_MS : FOLLOWED_MS);
}

/**
 * Looks at something again and again, the first time at once.
 *
 * @param look must not throw
 * @param everyMs from the end of a look to the next, ms
 * @returns ends it, once the last look has ended
 */
function lookRegularly(look: () => Promise<void>, everyMs: () => number): () => Promise<void> {
  const stopped = new AbortController();
  const looks = (async () => {
    while (!stopped.signal.aborted) {
      await look();
      await sleep(everyMs(), stopped.signal);
    }
  })();
  return async function stop() {
    stopped.abort();
    await looks;
  };
}

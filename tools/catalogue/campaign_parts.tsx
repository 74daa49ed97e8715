import type { ComponentProps } from "preact";

import { BoardFilter, Introduction } from "@/components/campaigns/board_parts.tsx";
import { Brand } from "@/components/frame_parts.tsx";
import { CampaignCard } from "@/components/campaigns/campaign_card.tsx";
import { Chip } from "@/components/chip.tsx";
import { ConfidenceLegend } from "@/components/viewer/confidence_legend.tsx";
import { Icon, type IconName } from "@/components/icon.tsx";
import { type LineLook, LogStage } from "@/components/log/log_lines.tsx";
import { Meter } from "@/components/meter.tsx";
import { Moment } from "@/components/moment.tsx";
import { OPEN_ZONES } from "@/components/campaigns/open_zones.tsx";
import { PageDrawing, SampleLogins } from "@/components/login_parts.tsx";
import { PageGrid, PageTable, RunFigures, RunSummary } from "@/components/log/run_summary.tsx";
import { PrintedLines } from "@/components/viewer/page_text.tsx";
import { VolumeTable } from "@/components/campaigns/volume_table.tsx";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { campaignApi } from "@/lib/pages/campaigns/campaign_api_client.ts";
import { CardStore } from "@/lib/pages/campaigns/card_store_client.ts";
import { browserClock } from "@/lib/pages/browser/poller_client.ts";
import { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";
import { overviewOf, readListAddress } from "@/lib/pages/campaigns/campaign_filter.ts";
import type { Tone } from "@/lib/pages/campaigns/campaign_state.ts";
import { blocksOf, rowsOf, writeLineLink } from "@/lib/pages/log/log_rows.ts";
import { readRunManifest, summarizeRun } from "@/lib/pages/log/run_manifest.ts";
import { LoginPanel } from "@/routes/login.tsx";
import { parseRunLog } from "@/tests/lib/pages/log/parsed_log.ts";
import { SAMPLE_LOG } from "@/tests/site/fake_site.ts";
import { SAMPLE_NOW, sampleDetail, sampleSummaries, summary, volume } from "@/tests/site/fake_campaigns.ts";
import { Part, State } from "./part.tsx";

/** The components of the campaign pages. */
export function CampaignParts() {
  return (
    <>
      <Part title="Brand, drawing and icons">
        <p>
          <Brand />
        </p>
        <PageDrawing />
        <ul>
          {Object.keys(ICONS).filter(isIcon).map((name) => (
            <li key={name}>
              <Icon name={name} /> {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Buttons">
        <p>
          <button class="btn" type="button">Plain</button> <button class="btn primary" type="button">Primary</button>
          {" "}
          <button class="btn small" type="button">Small</button>{" "}
          <button class="btn" type="button" disabled>Disabled</button>{" "}
          <button class="btn square" type="button" aria-label="Close">
            <Icon name="close" />
          </button>
        </p>
      </Part>
      <Part title="Chips, meters and moments">
        <p>
          {TONES.map((tone) => <Chip key={tone} text={tone} tone={tone} />)}
          <Chip text="live" tone="run" live />
        </p>
        <Meter parts={[]} total={0} label="Nothing is counted yet" />
        <Meter parts={[{ count: 30, tone: "done" }]} total={100} label="30 of 100" />
        <Meter
          parts={[{ count: 60, tone: "done" }, { count: 5, tone: "bad" }, { count: 10, tone: "run" }]}
          total={100}
          label="60 done, 5 failed, 10 at work of 100"
        />
        <p>
          <Moment at="2026-11-21T12:00:00Z" style={STYLE} />
        </p>
      </Part>
      <Part title="Banners and notices">
        <p class="banner">A banner</p>
        <p class="banner warn">A banner that warns</p>
        <p class="banner bad">A banner that someone must read</p>
        <p class="login-notice">A notice</p>
        <p class="login-notice bad">A notice of an error</p>
        <Introduction onClose={nothing} />
      </Part>
      <Part title="Login">
        {NOTICES.map((notice, n) => (
          <State key={n} name={notice === null ? "first visit" : notice.kind}>
            <LoginPanel
              next="/log"
              username="archive/reader"
              notice={notice}
              now={SAMPLE_NOW}
              samples={null}
              action="/login"
            />
          </State>
        ))}
        <div class="panel">
          <SampleLogins
            logins={[{ login: "archive/reader", what: "campaigns" }]}
            password="stackroom-demo"
            visitor="archive/reader"
            next="/"
            action="/login"
          />
        </div>
      </Part>
      <Part title="Filter of the list">
        <BoardFilter address={ADDRESS} overview={overviewOf(JOBS, ADDRESS.filter)} onChange={nothing} />
      </Part>
      <Part title="Cards, folded">{JOBS.map((job) => <Card key={job.name} job={job} />)}</Part>
      <Part title="Cards before their detail is read, and after a failed read">
        <Card job={summary({ name: "unread" })} isUnread />
        <Card job={summary({ name: "troubled" })} trouble="The server cannot be reached." />
      </Part>
      <Part title="Cards, open">
        {JOBS.map((job) => <Card key={job.name} job={{ ...job, name: `${job.name}-open` }} isOpen />)}
      </Part>
      <Part title="Rows of volumes">
        <VolumeTable job={summary({ name: "rows" })} volumes={VOLUMES} placeholders={2} now={SAMPLE_NOW} whole />
      </Part>
      <Part title="Stages of a run log, open and folded">
        {[true, false].map((isOpen) =>
          LOG.stages.map((stage, n) => (
            <LogStage
              key={`${n} ${isOpen}`}
              stage={stage}
              blocks={blocksOf(rowsOf(stage, "all"))}
              look={LOOK}
              isOpen={isOpen}
              isFirst={false}
              onOpen={nothing}
            />
          ))
        )}
      </Part>
      <Part title="Summary of a run">
        <RunFigures run={null} log={null} isLive isExpected />
        <RunFigures run={RUN} log={null} isLive={false} isExpected={false} />
        <RunSummary state={{ kind: "reading" }} summary={null} campaign={null} isLive />
        <RunSummary state={{ kind: "absent" }} summary={null} campaign={null} isLive={false} />
        <RunSummary
          state={{ kind: "problem", sentence: "The manifest cannot be read." }}
          summary={null}
          campaign={null}
          isLive={false}
        />
        <PageGrid pages={RUN.manifest.pages} viewerUrl={null} campaign={null} maxSeconds={9} />
        <PageTable pages={RUN.manifest.pages} viewerUrl={null} campaign={null} order="page" onOrder={nothing} />
      </Part>
      <Part title="Text of a page">
        <ConfidenceLegend />
        <PrintedLines lines={["<alto>", "  <Layout/>", "</alto>"]} label="A file" />
      </Part>
    </>
  );
}

interface CardProps {
  readonly job: JobSummary;
  readonly isOpen?: boolean;
  readonly isUnread?: boolean;
  readonly trouble?: string;
}

function Card({ job, isOpen = false, isUnread = false, trouble }: CardProps) {
  const card = new CardStore(job, {
    api: campaignApi("", () => Promise.reject(new Error("the catalogue reads no campaign"))),
    queue: new ReadQueue(1),
    clock: browserClock,
    onLogin: nothing,
  });
  card.detail.value = isUnread ? null : sampleDetail(job, 0, SHOWN_VOLUMES);
  card.volumes.value = card.detail.value?.volumes ?? [];
  card.trouble.value = trouble === undefined ? null : { sentence: trouble, asOf: SAMPLE_NOW };
  return (
    <CampaignCard
      card={card}
      open={isOpen}
      zones={OPEN_ZONES}
      spansNamespaces={false}
      style={STYLE}
      onFold={nothing}
    />
  );
}

const SHOWN_VOLUMES = 4;
const JOBS = sampleSummaries();
const STYLE = { zone: "Europe/Stockholm", now: SAMPLE_NOW };
const ADDRESS = readListAddress(new URLSearchParams());
const TONES: readonly Tone[] = ["run", "done", "warn", "bad", "idle"];

/** One volume of each state. */
const VOLUMES = [
  volume({ index: 0, id: "done" }),
  volume({ index: 1, id: "pending", state: "pending", progress: null }),
  volume({ index: 2, id: "active", state: "active" }),
  volume({ index: 3, id: "stalled", state: "active", stalledSince: "2026-11-21T11:48:00Z" }),
  volume({ index: 4, id: "failed", state: "failed", reason: { stage: "load", permanent: true, error: "no model" } }),
  volume({ index: 5, id: "forbidden", forbidden: true, progress: null }),
  volume({ index: 6, id: "unknown", state: "unknown", progress: null }),
  volume({ index: 7, id: "images", sourceUrl: null }),
];

/** The notices of a login page. */
const NOTICES: readonly ComponentProps<typeof LoginPanel>["notice"][] = [
  null,
  { kind: "failed", sentence: "The name or the password is wrong.", isForApi: false },
  { kind: "failed", sentence: "This account opens no campaigns.", isForApi: true },
  { kind: "moment", moment: { kind: "locked", at: SAMPLE_NOW + 60_000 } },
  { kind: "moment", moment: { kind: "ended", at: SAMPLE_NOW - 600_000 } },
  { kind: "said", sentence: "You are logged out." },
  { kind: "logged in", user: "archive/reader" },
];

const LOG = parseRunLog(SAMPLE_LOG);
const LOOK: LineLook = {
  since: null,
  search: { pattern: /page/g, lines: [] },
  hit: null,
  marked: null,
  isPrinting: false,
  openFolds: new Set(),
  onFold: nothing,
  linkOf: (line) => writeLineLink(line, LOG),
};
const RUN = sampleRun();

function sampleRun() {
  const statuses = ["ok", "ok", "failed", "skipped", "ok"];
  const results = statuses.map((status, n) => [`000${n + 1}`, { status, seconds: n + 2, quality: 0.5 + n / 10 }]);
  const manifest = readRunManifest({ pages: statuses.length, results: Object.fromEntries(results), wall_seconds: 90 });
  if (!manifest) throw new Error("the sample manifest is not one that a run writes");
  return { manifest, summary: summarizeRun(manifest) };
}

/** Every icon, so that a new one is not forgotten here. */
const ICONS: Readonly<Record<IconName, true>> = {
  fold: true,
  system: true,
  light: true,
  dark: true,
  previous: true,
  next: true,
  minus: true,
  plus: true,
  rotate: true,
  fullScreen: true,
  wholePage: true,
  spread: true,
  download: true,
  copy: true,
  close: true,
  move: true,
  bin: true,
  rename: true,
  thumbnails: true,
  text: true,
  about: true,
  keys: true,
  search: true,
  up: true,
  down: true,
  manifest: true,
  log: true,
  folder: true,
  bucket: true,
  file: true,
  image: true,
  archive: true,
  leave: true,
  upload: true,
  pause: true,
  print: true,
};

function isIcon(name: string): name is IconName {
  return Object.hasOwn(ICONS, name);
}

function nothing(): void {}

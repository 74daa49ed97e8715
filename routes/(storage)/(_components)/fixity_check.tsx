import { Icon } from "@/components/icon.tsx";
import { FixityFacts, FixityFilters, FixityRows } from "@/components/storage/fixity_report.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import StorageFixity from "@/islands/storage_fixity.tsx";
import {
  checkedPlace,
  FIXITY_LABELS,
  FIXITY_SENTENCES,
  type FixityCheck,
  isBaseline,
} from "@/lib/pages/storage/fixity_check.ts";
import { choicesOf } from "@/lib/pages/storage/fixity_fields.ts";
import { fixityPath, fixityReportPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { readCheck, ShownRows } from "@/lib/site/storage/fixity_pages.ts";
import type { StorageVisit } from "@/lib/site/storage/storage_visit.ts";

type ReadCheck = Awaited<ReturnType<typeof readCheck>>;

/** The title of a check's page. */
export function checkTitle(check: FixityCheck | null): string {
  if (check === null) return FIXITY_LABELS.fixity;
  return check.prefix === "" ? FIXITY_LABELS.checkOfAll(check.bucket) : FIXITY_LABELS.checkOf(checkedPlace(check));
}

interface FixityCheckPageProps {
  readonly visit: StorageVisit;
  readonly read: ReadCheck;
  /** ms since 1970 */
  readonly now: number;
}

/** One fixity check: how far it is, what it found, and the objects of its report. */
export function FixityCheckPage({ visit: { account, accounts }, read, now }: FixityCheckPageProps) {
  const { check } = read;
  return (
    <StorageSection
      account={account}
      accounts={accounts}
      steps={[{ name: FIXITY_LABELS.fixity, href: fixityPath({ account }) }]}
      title={check === null || check.prefix === ""
        ? <bdi>{checkTitle(check)}</bdi>
        : <KeyName name={FIXITY_LABELS.checkOf(`${check.bucket}/${check.prefix}`)} />}
    >
      {read.check === null
        ? <p class="banner warn">{absence(read.status)}</p>
        : <CheckBody account={account} read={read} now={now} />}
    </StorageSection>
  );
}

/** Why a check is not there. */
function absence(status: number): string {
  if (status === 404 || status === 422) return FIXITY_SENTENCES.gone;
  return status === 410 ? FIXITY_SENTENCES.otherVersion : storageProblem(status, "folder");
}

interface CheckBodyProps {
  readonly account: string;
  readonly read: Exclude<ReadCheck, { readonly check: null }>;
  readonly now: number;
}

function CheckBody({ account, read: { check, shown, rows }, now }: CheckBodyProps) {
  const { bucket, prefix, task_id: task } = check;
  return (
    <>
      <StorageFixity account={account} checks={[shown]} isAlone renderedAt={now} />
      <FixityFacts account={account} check={check} />
      {rows !== null && (
        <p class="btns reports">
          <a class="btn" href={fixityReportPath({ account, bucket, task }, "csv")}>
            <Icon name="download" /> {FIXITY_LABELS.download} ({FIXITY_LABELS.csv})
          </a>
          <a class="btn" href={fixityReportPath({ account, bucket, task }, "json")}>
            <Icon name="download" /> {FIXITY_LABELS.download} ({FIXITY_LABELS.json})
          </a>
          <a class="btn" href={fixityPath({ account, bucket, prefix, choices: choicesOf(check) })}>
            {FIXITY_LABELS.again}
          </a>
          {isBaseline(check) && (
            <a
              class="btn"
              href={fixityPath({ account, bucket, prefix, choices: { ...choicesOf(check), baseline: task } })}
            >
              {FIXITY_LABELS.compareAgain}
            </a>
          )}
        </p>
      )}
      <section id="objects">
        <h2>{FIXITY_LABELS.objects}</h2>
        {rows === null
          ? <p class="empty">{FIXITY_SENTENCES.rowsAtEnd}</p>
          : <Objects account={account} check={check} rows={rows} />}
      </section>
    </>
  );
}

interface ObjectsProps {
  readonly account: string;
  readonly check: FixityCheck;
  readonly rows: ShownRows;
}

function Objects({ account, check, rows: { filter, from, page } }: ObjectsProps) {
  const { bucket, task_id: task, rows_left_out } = check;
  if (filter === null || page === null) return <p class="empty">{FIXITY_SENTENCES.noRows}</p>;
  const link = (from: number) => `${fixityPath({ account, bucket, task, result: filter, from })}#objects`;
  return (
    <>
      <FixityFilters account={account} check={check} current={filter} />
      {typeof page === "number"
        ? <p class="banner warn">{page === 410 ? FIXITY_SENTENCES.rowsGone : storageProblem(page, "folder")}</p>
        : (
          <>
            {page.rows.length > 0
              ? <FixityRows account={account} bucket={bucket} rows={page.rows} />
              : (
                <p class="empty">
                  {page.next === null ? FIXITY_SENTENCES.noneOfResult : FIXITY_SENTENCES.searched(page.searched)}
                </p>
              )}
            <p class="btns page-links">
              {from > 0 && <a class="btn" href={link(0)}>{FIXITY_LABELS.firstRows}</a>}
              {page.next !== null && <a class="btn" href={link(page.next)}>{FIXITY_LABELS.nextRows}</a>}
            </p>
          </>
        )}
      {rows_left_out > 0 && <p class="remark">{FIXITY_SENTENCES.rowsLeftOut(rows_left_out)}</p>}
    </>
  );
}

import { LOGIN_LABELS, SAMPLE_PURPOSES } from "@/lib/pages/login_sentences.ts";

/** Accounts with a public password, for a store that has only samples at first. */
interface SampleLoginsProps {
  readonly logins: readonly { readonly login: string; readonly what: string }[];
  readonly password: string;
  /** The login of the button. */
  readonly visitor: string;
  /** The path after the login. */
  readonly next: string;
  /** Where the button's form is sent. */
  readonly action: string;
}

/** The sample accounts with what each opens, and a button that logs in with one of them. */
export function SampleLogins({ logins, password, visitor, next, action }: SampleLoginsProps) {
  return (
    <section class="samples" aria-labelledby="samples">
      <h2 id="samples">{LOGIN_LABELS.samples}</h2>
      <form method="post" action={action}>
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="username" value={visitor} />
        <input type="hidden" name="password" value={password} />
        <button class="btn" type="submit">{LOGIN_LABELS.lookAround(visitor.split("/").at(-1) ?? visitor)}</button>
      </form>
      <table>
        <thead>
          <tr>
            <th scope="col">{LOGIN_LABELS.sampleName}</th>
            <th scope="col">{LOGIN_LABELS.samplePurpose}</th>
          </tr>
        </thead>
        <tbody>
          {logins.map(({ login, what }) => (
            <tr key={login}>
              <th scope="row">
                <code>{login}</code>
              </th>
              <td>{Object.hasOwn(SAMPLE_PURPOSES, login) ? SAMPLE_PURPOSES[login] : what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">
        {LOGIN_LABELS.samplePassword} <code>{password}</code>
      </p>
    </section>
  );
}

/** Strokes of a hand, each from one foot of a letter to the next, 24 units of height in all. */
const STROKES: Readonly<Record<string, string>> = {
  l: "c5.1-6.3 9.6-21 5.5-23c-3.8-1-5 15-1.3 23",
  u: "c1.6-2 2.6-6 4-10c-1 4-3 10 1 10",
  o: "c4.8-1 8-10 3-10c-5 .2-6 10 0 10c2.6 0 4-2 6 0",
  c: "c3.4-2.6 4-9.8 6-9c-2 3-4 9 2 9",
  g: "c3.4-1 2.6 10-2.6 14.7c-4 2-1-8 7-14.7",
  n: "c1-4 2-8 3.5-9.6c.5 3-.8 7-.3 9.6c1.5-4 3.5-9 5.5-9.4c.6 3-.8 7 1 9.4",
};
/** Units between two words. */
const GAP = 9;

const LINES = [
  "loculu ncgu lono cugul noluc ungo",
  "gulon cu lolucno ugnol cuno luggo cn",
  "nocul gloun colu nuc lugonol cugu",
  "cunlo golu nun locugo ulnoc gulo lu",
  "lugno colun go nucolu gulnoc ouco",
  "nolu gucon lulog cunu oclung olo",
];

/** The line that the drawing marks as read. */
const READ_LINE = 2;

/** A page in an old hand with one line marked: a decoration, never read out. */
export function PageDrawing() {
  return (
    <svg
      class="page-drawing"
      viewBox="0 0 420 216"
      preserveAspectRatio="xMidYMin slice"
      aria-hidden="true"
      focusable="false"
    >
      <g transform="translate(34 14) rotate(-1.5)">
        <rect class="paper" width="460" height="300" />
        <path class="edge" d="M58 0v300M0 18h460" />
        <rect class="read" x="64" y={16 + READ_LINE * 34} width="380" height="33" rx="4" />
        {LINES.map((line, n) => <path key={n} class="pen" d={`M72 ${40 + n * 34}${written(line)}`} />)}
      </g>
    </svg>
  );
}

function written(line: string): string {
  return line.replaceAll(/./g, (letter) => STROKES[letter] ?? `m${GAP} 0`);
}

import { LOGIN_LABELS, SAMPLE_PURPOSES } from "@/lib/presentation/login_sentences.ts";

/** Accounts with a public password, for a store that holds nothing but samples at first. */
export interface SampleLoginsProps {
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

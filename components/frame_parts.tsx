import { currentLanguage, LANGUAGE_NAMES, LANGUAGES } from "@/lib/pages/locale/language.ts";

/** The product's mark and name. */
export function Brand() {
  return (
    <>
      <svg class="mark" width="22" height="22" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
        <path d="M2 2h4v13H2zM8 4h3v11H8zM13.2 3.6l3-.8 3 11.6-3 .8zM1 16.5h18V18H1z" fill="currentColor" />
      </svg>
      <span>Stackroom</span>
    </>
  );
}

/** A form with a button for each other language, by its own name. In the bar of a phone only its tag is seen. */
export function LanguageChoice({ here }: { /** The path and query of this page. */ here: string }) {
  const others = LANGUAGES.filter((language) => language !== currentLanguage());
  return (
    <form class="languages" method="post" action="/language">
      <input type="hidden" name="next" value={here} />
      {others.map((language) => (
        <button
          key={language}
          class="btn"
          type="submit"
          name="language"
          value={language}
          lang={language}
        >
          <span class="tag">{language.toUpperCase()}</span>
          <span class="name">{LANGUAGE_NAMES[language]}</span>
        </button>
      ))}
    </form>
  );
}

import { plainText } from '#shared/domain/nodes/plain-text.ts'

/** Characters of a provider's text that are shown. */
const SHOWN_MAX = 160
/** Runs of letters and digits from this length on may be a key, which providers like to repeat in their refusals. */
const KEY_MIN = 20
/** Parts of our own URL from this length on are never repeated. */
const SECRET_MIN = 6

/**
 * Makes a provider's own words showable: one line without control characters, keys and URLs, of at most 160 characters. Nothing
 * that stands in the path, query or user info of the node's URL is repeated.
 */
export function createWordsFilter(url: URL): (text: string) => string {
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()]
  const secrets = parts.flatMap((part) => [part, decoded(part)]).filter((part) => part.length >= SECRET_MIN)
  return (text) => {
    const open = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
    const bare = plainText(open).replaceAll(/[A-Za-z0-9_-]+/g, (run) =>
      run.length >= KEY_MIN && /\d/.test(run) && /[A-Za-z]/.test(run) ? '…' : run,
    )
    return [...bare].slice(0, SHOWN_MAX).join('')
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

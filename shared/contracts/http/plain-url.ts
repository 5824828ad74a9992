/** Longest URL that is taken, in UTF-16 units. */
const LENGTH_MAX = 2_048
/** Longest URL that a message repeats. */
const SHOWN_MAX = 200
/**
 * Parsers drop white space and control characters or turn backslashes into slashes, and people do not see format characters such as
 * U+202E, which turns the text around: a reader may see another address than the one that is opened.
 */
const AMBIGUOUS = /[\\\p{C}\p{Z}]/u
const AUTHORITY = /^([a-z][a-z0-9+.-]*:\/\/)((?:[^/?#@]*@)?)([^/?#@]*)\/?/
const DEFAULT_PORT = { 'http:': ':80', 'https:': ':443' } as const

/** A URL as it was written, or why it is refused, in words that follow the name of the field. */
export type PlainUrl = { readonly url: URL; readonly fault: null } | { readonly url: null; readonly fault: string }

/**
 * The one reader of URLs that a person, a merchant or an operator enters. It takes an absolute URL only in the form in which the parser
 * (WHATWG) writes it, so that the stored text is the address that is opened: what the parser would repair is refused, and the message
 * says how to write it. Names in other scripts are taken in their ASCII form (`xn--…`), other characters percent-encoded. Left to the writer
 * are the case of the host, the default port, and the slash after a bare host.
 */
export function readPlainUrl(text: string): PlainUrl {
  if (text.length > LENGTH_MAX) return refuse(`must have at most ${LENGTH_MAX} characters`)
  if (AMBIGUOUS.test(text))
    return refuse(
      'must be an absolute URL without white space, control characters, invisible characters or backslashes',
    )
  if (!URL.canParse(text)) return refuse('must be an absolute URL')
  const url = new URL(text)
  if (normalForm(text, url.protocol) === url.href) return { url, fault: null }
  return refuse(
    url.href.length <= SHOWN_MAX ? `must be written as ${url.href}` : 'must be written as browsers write it',
  )
}

/** The parsed absolute URL; null for anything else and for texts that a parser would have to repair first. */
export function parsePlainUrl(text: string): URL | null {
  return readPlainUrl(text).url
}

function normalForm(text: string, protocol: string): string {
  if (protocol !== 'http:' && protocol !== 'https:') return text
  const port = DEFAULT_PORT[protocol]
  return text.replace(AUTHORITY, (_, scheme: string, credentials: string, host: string) => {
    const bare = host.endsWith(port) ? host.slice(0, -port.length) : host
    return `${scheme}${credentials}${bare.toLowerCase()}/`
  })
}

function refuse(fault: string): PlainUrl {
  return { url: null, fault }
}

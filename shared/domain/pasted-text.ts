/** Names that no other text looks like: hashes, Solana signatures, ids and EVM addresses. */
const UNMISTAKABLE = [
  /^(0x)?[0-9a-f]{64}$/i,
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/,
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^0x[0-9a-f]{40}$/i,
]
/** What explorers, and our own pages, name in an address: those, and addresses of every network. */
const NAMES = [...UNMISTAKABLE, /^[a-z]{2,5}1[02-9ac-hj-np-z]{20,90}$/i, /^[1-9A-HJ-NP-Za-km-z]{25,44}$/]
/** The address of a page up to its path, also as browsers show it and as mails quote it: without a scheme, or in brackets. The host is no name, though it may look like one. */
const HOST = /^[<([{"'“«]*(?:https?:\/\/[^/?#]+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?=[/?#]))/i
/** A number as a phone types it, once its digits are those of ASCII. */
const NUMBER = /^#?[\d.,\s]*\d(?: [a-z]{2,10})?$/i
const LENGTH_MAX = 500

/**
 * What a person means by a pasted text: of an explorer's address, or of one of our pages, the hash, id or address that it names; of a hash or
 * an id that a mail broke into lines, all of it; of a number in full-width digits, the number. Any other text as it is, without the space
 * around it.
 */
export function readPasted(text: string): string {
  const given = text.trim()
  if (given.length > LENGTH_MAX) return given
  const typed = given.normalize('NFKC')
  const joined = typed.replace(/\s+/g, '')
  if (UNMISTAKABLE.some((form) => form.test(joined))) return joined
  if (NUMBER.test(typed)) return typed
  const [host] = HOST.exec(given) ?? []
  if (host === undefined) return given
  const parts = given.slice(host.length).split(/[^0-9A-Za-z-]+/)
  return NAMES.flatMap((form) => parts.find((part) => form.test(part)) ?? []).at(0) ?? given
}

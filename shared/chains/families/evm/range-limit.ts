/**
 * Error texts by which nodes and providers state the maximum range of one log request: Cloudflare, Avalanche, Thirdweb,
 * QuickNode, 1RPC, Blast, BlockPI, Alchemy, Coinbase, PublicNode, BNB Smart Chain, Reth, java-tron, Swell, Somnia, Merkle,
 * Harmony, Moonriver, Ankr and dRPC, in about this order.
 */
const LIMITS: readonly RegExp[] = [
  /max range: ([\d,.]+k?)/i,
  /maximum is set to ([\d,.]+k?)/i,
  /number of requested blocks is ([\d,.]+k?)/i,
  /limited to an? ([\d,.]+k?)/i,
  /limited to (?:\d+ ?- ?)?([\d,.]+k?) block/i,
  /allowed for your plan \(\d+ > (\d+)\)/i,
  /up to an? ([\d,.]+k?) block range/i,
  /at most ([\d,.]+k?) blocks/i,
  /max(?:imum)? block range:? ([\d,.]+k?)/i,
  /block range greater than ([\d,.]+k?) max/i,
  /block range exceeds ([\d,.]+k?)/i,
  /max is ([\d,.]+k?) blocks/i,
  /smaller than size ([\d,.]+k?)/i,
  /too wide \(maximum ([\d,.]+k?)\)/i,
  /blocks distance: ([\d,.]+k?)/i,
  /ranges over ([\d,.]+k?) blocks/i,
]

/** An acceptable range, as suggested by Infura, zkSync and Alchemy (hexadecimal) or Reth (decimal). */
const SUGGESTIONS: readonly RegExp[] = [
  /block range(?: should work)?:? \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i,
  /retry with the range (\d+)-(\d+)/i,
]

/**
 * Error texts that demand a smaller request without a limit. There is no code for it: -32005 (limit exceeded, EIP-1474) also
 * means "too many requests", and -32602 is also used for a range that is too wide.
 */
const TOO_MUCH: readonly RegExp[] = [
  /block range|range (is )?too|too many blocks/i,
  /(response|request|query|result|range|log)\S* (is |was )?too (large|big|wide)/i,
  /response size|size exceeded/i,
  /more than \d+ (results|logs)|max results|too many (results|logs)/i,
  /logs matched by query|exceeds? .*(range|limit of|max)/i,
  /quer(y|ies) time(d )?-?out|query duration/i,
]

/**
 * A range that ends above the head of the node, which may be one of several behind a URL: go-ethereum and Reth ("block range extends beyond current head
 * block"), Sentio. It is no wider than another one.
 */
export const ABOVE_HEAD = /beyond (the )?(current head|latest)/i

/** Texts about frequency, not size: `limited to a 25 requests per second` is not a range. */
const TOO_OFTEN =
  /rate.?limit|too many requests|(requests|calls|compute units) per|per second|\/s(ec)?\b|throughput|quota|(request|usage|credit)s? (count|limit)|max(imum)? usage|slow down|throttl/i
/** "Limit exceeded" (EIP-1474); the status, as Alchemy repeats it; Base; QuickNode ("credits limited", "request limit reached"). */
const RATE_CODES = new Set([-32_005, 429, -32_016, -32_012, -32_007, -32_029])

/** True when an error means that requests come too fast, or that a quota is spent. */
export function isTooOften({ code, message }: { readonly code: number; readonly message: string }): boolean {
  return TOO_OFTEN.test(message) || (RATE_CODES.has(code) && !isTooMuch(message))
}

/** True when an error text means that the request spans or returns too much. */
export function isTooMuch(message: string): boolean {
  if (TOO_OFTEN.test(message) || ABOVE_HEAD.test(message)) return false
  return parseRangeMax(message) !== null || TOO_MUCH.some((pattern) => pattern.test(message))
}

/** Most blocks, both ends included, that an error text allows; null when it contains no number. */
export function parseRangeMax(message: string): number | null {
  for (const pattern of SUGGESTIONS) {
    const [, from, to] = pattern.exec(message) ?? []
    if (from !== undefined && to !== undefined) return positive(Number(to) - Number(from) + 1)
  }
  for (const pattern of LIMITS) {
    const [, blocks] = pattern.exec(message) ?? []
    if (blocks !== undefined) return positive(parseCount(blocks))
  }
  return null
}

/** Reads `2000`, `10,000`, `10.000` and `2K`. */
function parseCount(text: string): number {
  const digits = Number(text.replace(/\D/g, ''))
  return /k$/i.test(text) ? digits * 1_000 : digits
}

function positive(value: number): number | null {
  return Number.isSafeInteger(value) && value > 0 ? value : null
}

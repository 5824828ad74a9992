import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'

/**
 * The value types of responses, each with the bounds a client may rely on. Fields add their own
 * description with `.describe()`.
 */

/** Moment in UTC: `2026-10-01T12:00:00.000Z`. */
export const timestamp = boundedText(24).check(z.iso.datetime())

/** A non-negative plain decimal, never in exponent form: `0.00042`. */
export const decimalText = boundedText(100).regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)

/** A non-negative whole number that may exceed 2^53, as text: up to the 78 digits of a uint256. */
export const wholeText = boundedText(78).regex(/^(0|[1-9][0-9]*)$/)

/** Text that a merchant or payer entered, as it was stored. */
export function freeText(max: number) {
  return boundedText(max).meta({ pattern: STORED_TEXT })
}

/** Regular expression of stored text: anything but NUL. `\x00`, because PCRE (PHP) has no `\u` escapes. */
export const STORED_TEXT = '^[^\\x00]*$'

/** An address, hash or other token of a chain: printable ASCII without spaces. */
export const chainToken = boundedText(256).regex(/^[!-~]+$/)

/** An absolute URL. */
export const absoluteUrl = boundedText(2_048).check(z.url())

/** Ticker in capitals. */
export const tickerSymbol = boundedText(10)
  .regex(/^[A-Z0-9]+$/)
  .describe('Ticker of the asset, in capitals.')

/** Asset id. */
export const assetId = z.enum(ASSET_IDS).describe('Asset id: `<symbol>_<network>`.')

/** Network id. */
export const networkId = z.enum(NETWORK_IDS).describe('Network of the asset.')

/** Decimals between base units and the display unit of an asset. */
export const assetDecimals = z.int().min(0).max(36).describe('Decimals between base units and `amount`: 8 for BTC.')

/** A count of blocks. */
export const blockCount = z.int().min(0).max(2_147_483_647)

/**
 * Describes in the OpenAPI document how a value looks on the wire, where the schema alone cannot: a query parameter is text that becomes
 * a number, a body field may be checked by code. For `.meta({ override })`; keeps the description.
 */
export function documentedAs(wire: Readonly<Record<string, unknown>>) {
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
    const { description } = jsonSchema
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
    Object.assign(jsonSchema, description === undefined ? wire : { description, ...wire })
  }
}

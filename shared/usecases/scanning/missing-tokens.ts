import type { AssetId } from '#shared/domain/enumerations.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'

/** How often a node that lacks a token is asked for it again. */
const POLL_EVERY_MS = 60_000
const POLL_EVERY_DEVELOPMENT_MS = 2_000

/**
 * Stores which tokens the node lacks, so that no invoice is quoted in them; the network goes on with its other assets. Their
 * contracts stay part of what is scanned: a node that only seemed to lack one loses no payment.
 */
export async function noteMissingTokens(session: ScanSession, missing: readonly AssetId[]): Promise<void> {
  const { cursor, deps, source } = session
  session.tokensLookedAt = deps.clock.now()
  const known = cursor.missingTokens ?? []
  if (known.length === missing.length && known.every((asset) => missing.includes(asset))) return
  const { mode, network } = source
  deps.logger.warn({ mode, network, missing }, 'the node lacks the contracts of tokens; they are refused')
  await moveCursor(session, { missingTokens: missing })
}

/** Asks again now and then while tokens are missing: they may be deployed, or another node may be in use. */
export async function lookForMissingTokens(session: ScanSession): Promise<void> {
  const { cursor, deps, source, tokensLookedAt = 0 } = session
  if ((cursor.missingTokens ?? []).length === 0) return
  const everyMs = source.development ? POLL_EVERY_DEVELOPMENT_MS : POLL_EVERY_MS
  if (deps.clock.now() - tokensLookedAt < everyMs) return
  await noteMissingTokens(session, await source.client.verify())
}

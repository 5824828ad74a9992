import type { ServiceContext } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createAddressReader, guessAddress } from '#shared/chains/addresses/payee-address.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodeCheck } from '#shared/chains/check-nodes.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { createEgressGuard } from '#shared/runtime/http/egress-guard.ts'
import { createLogoReader } from '#shared/runtime/images/logo-reader.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createHashingLimiter } from '#shared/runtime/secrets/hashing-limiter.ts'
import { createOneTimeCodes } from '#shared/runtime/secrets/one-time-codes.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createKeyHasher, createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { createRefundLinks } from '#shared/usecases/refunds/refund-link.ts'
import { createListCursor } from '#shared/usecases/requests/list-cursor.ts'
import type { AdminParts } from './assemble.ts'

/** The real parts of the dashboard API on open connections. `walletDelayMs`: how long a new live wallet waits; default: as configured. */
export function openAdminParts(
  context: ServiceContext,
  walletDelayMs: number = context.config.wallets.delayMs,
): ReturnType<typeof openParts> & AdminParts {
  const { config, signals, metrics } = context
  const { masterKey, keyPepper } = config.secrets
  const parts = openParts(context)
  return {
    ...parts,
    config,
    catalog: createCatalog(config.networks, context.paces),
    addressBook: createAddressBook(),
    auditKeys: createAuditKeys(masterKey),
    auditMarks: createAuditMarks({ ...parts, markPlaces: context.markPlaces, markKeys: createMarkKeys(masterKey) }),
    codes: createOneTimeCodes(),
    epochs: signals.createEpochStore(),
    guessAddress,
    hasher: createKeyHasher(keyPepper),
    lanes: createHashingLimiter(parts.after),
    limiter: signals.createRateLimiter(metrics),
    listCursor: createListCursor(keyPepper),
    logoReader: createLogoReader(),
    nodePrices: createNodePrices(config.networks),
    nodes: createNodeCheck(config.networks, metrics),
    openChain: (mode, network) => createChainClient(config.networks, mode, network, metrics),
    passwords: createPasswordHasher(),
    payees: createAddressReader(),
    queueCounts: signals.createQueueCounts(),
    refundLinks: createRefundLinks(keyPepper),
    secretBox: createSecretBox(masterKey),
    urlGuard: createEgressGuard({ allowLocalhost: config.webhooks.allowLocalhost }),
    urls: { checkoutBaseUrl: config.checkout.baseUrl },
    walletDelayMs,
  }
}

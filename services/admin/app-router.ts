import { apiKeysRouter } from './routers/api-keys.ts'
import { auditRouter } from './routers/audit.ts'
import { authRouter } from './routers/auth.ts'
import { chainsRouter } from './routers/chains.ts'
import { customersRouter } from './routers/customers.ts'
import { deliveriesRouter } from './routers/deliveries.ts'
import { diagnosticsRouter } from './routers/diagnostics.ts'
import { endpointsRouter } from './routers/endpoints.ts'
import { exceptionsRouter } from './routers/exceptions.ts'
import { fundsRouter } from './routers/funds.ts'
import { goLiveRouter } from './routers/go-live.ts'
import { invoicesRouter } from './routers/invoices.ts'
import { liveRouter } from './routers/live.ts'
import { membersRouter } from './routers/members.ts'
import { overviewRouter } from './routers/overview.ts'
import { paymentLinksRouter } from './routers/payment-links.ts'
import { paymentsRouter } from './routers/payments.ts'
import { productsRouter } from './routers/products.ts'
import { queuesRouter } from './routers/queues.ts'
import { ratesRouter } from './routers/rates.ts'
import { settlementsRouter } from './routers/settlements.ts'
import { systemRouter } from './routers/system.ts'
import { walletsRouter } from './routers/wallets.ts'
import { workspaceRouter } from './routers/workspace.ts'
import { router } from './trpc.ts'

/** Every procedure of the dashboard API. */
export const appRouter = router({
  auth: authRouter,
  workspace: workspaceRouter,
  members: membersRouter,
  apiKeys: apiKeysRouter,
  audit: auditRouter,
  invoices: invoicesRouter,
  payments: paymentsRouter,
  settlements: settlementsRouter,
  customers: customersRouter,
  paymentLinks: paymentLinksRouter,
  products: productsRouter,
  exceptions: exceptionsRouter,
  diagnostics: diagnosticsRouter,
  overview: overviewRouter,
  live: liveRouter,
  endpoints: endpointsRouter,
  deliveries: deliveriesRouter,
  wallets: walletsRouter,
  funds: fundsRouter,
  goLive: goLiveRouter,
  rates: ratesRouter,
  chains: chainsRouter,
  queues: queuesRouter,
  system: systemRouter,
})

/** For typed clients: the dashboard, tests. */
export type AppRouter = typeof appRouter

import { router } from '../trpc.ts'

export const paymentLinksRouter = router({})

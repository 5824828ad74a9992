import { router } from '../trpc.ts'

export const ratesRouter = router({})

import { router } from '../trpc.ts'

export const exceptionsRouter = router({})

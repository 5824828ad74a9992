import { router } from '../trpc.ts'

export const chainsRouter = router({})

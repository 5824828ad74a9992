import { router } from '../trpc.ts'

export const walletsRouter = router({})

import { router } from '../trpc.ts'

export const membersRouter = router({})

// Run by mongosh in the service `mongo-init`: makes mongo-0, -1 and -2 one replica set and waits for its primary.
const members = [0, 1, 2].map((number) => ({ _id: number, host: `mongo-${number}:27017` }))
try {
  rs.status()
  print('the replica set exists')
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error
  rs.initiate({ _id: 'rs0', members })
}
for (let left = 60; !db.hello().isWritablePrimary && !db.hello().primary; left -= 1) {
  if (left === 0) throw new Error('the replica set has no primary after 60 s')
  sleep(1000)
}

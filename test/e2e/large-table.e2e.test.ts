import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHistory } from '../../bench/histories.ts'
import { type WorkerProcess, WorkerService } from '../support/worker-service.ts'

const ROWS = 200_000

describe('a table of more rows than its tablets keep in memory', () => {
  let service: WorkerService
  let worker: WorkerProcess

  beforeAll(async () => {
    service = await WorkerService.build()
    worker = await service.start()
  })

  afterAll(async () => {
    await worker.kill()
    await service.remove()
  })

  test('counts, scans and reads right at rest and at each snapshot remembered on the way', {
    timeout: 400_000,
  }, async () => {
    await expect(runHistory(worker.address, ROWS, 'random')).resolves.toBeUndefined()
    expect(worker.output()).not.toContain('"level":"error"')
  })
})

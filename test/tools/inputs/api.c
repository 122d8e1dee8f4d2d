/* api.c ONE TWO - what cleave.h promises, on a model of one rank and on the
 * same one of two. The model gathers rows of a table whose row r holds 10 r +
 * 0, 1, 2, 3. */

#include <cleave.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "api.c:%d: %s (error: %s)\n", __LINE__, #condition,      \
              cleaveError());                                                  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Runs the model on three ids and compares the rows, where this is rank 0. */
static int runRows(CleaveModel *model, int64_t a, int64_t b, int64_t c) {
  int64_t ids[3] = {a, b, c};
  float rows[12] = {0};
  const void *inputs[] = {ids};
  void *outputs[] = {rows};
  int code = cleaveRun(model, inputs, outputs);
  if (code == 0 && cleaveRank(model) == 0)
    for (int i = 0; i < 12; ++i)
      EXPECT(rows[i] == 10 * ids[i / 4] + i % 4);
  return code;
}

static void *runMany(void *model) {
  for (int i = 0; i < 200; ++i)
    EXPECT(runRows(model, i % 5, (i + 1) % 5, (i + 2) % 5) == 0);
  return NULL;
}

static void testFacts(const CleaveModel *model, int world) {
  const CleaveTensor *ids = cleaveInput(model, 0);
  EXPECT(cleaveInputCount(model) == 1 && cleaveOutputCount(model) == 1);
  EXPECT(!strcmp(ids->name, "ids") && !strcmp(ids->dtype, "i64"));
  EXPECT(ids->rank == 1 && ids->shape[0] == 3 && ids->bytes == 24);
  EXPECT(!strcmp(cleaveOutput(model, 0)->name, "rows"));
  EXPECT(cleaveOutput(model, 0)->bytes == 48);
  EXPECT(!cleaveInput(model, 1) && !cleaveOutput(model, -1));
  EXPECT(cleaveWorld(model) == world);
}

static void testThreads(CleaveModel *one, CleaveModel *two) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    EXPECT(!pthread_create(&threads[i], NULL, runMany, i % 2 ? one : two));
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
}

static void testAddresses(CleaveModel *one) {
  float rows[12];
  void *outputs[] = {rows};
  const void *none[] = {NULL};
  EXPECT(cleaveRun(one, none, outputs) == 2);
  EXPECT(!strcmp(cleaveError(), "the address of input 'ids' is null"));
  EXPECT(cleaveRun(one, NULL, outputs) == 2);
  EXPECT(cleaveRun(NULL, none, outputs) == 2);
  EXPECT(cleaveOpen("x", NULL, NULL) == 2);
  EXPECT(cleaveInputCount(NULL) == 0 && !cleaveOutput(NULL, 0));
  EXPECT(cleaveWorld(NULL) == 0 && cleaveRank(NULL) == 0);
}

/* A model of one rank can run again after a failure, one of several can't. */
static void testFailure(CleaveModel *one, CleaveModel *two) {
  EXPECT(runRows(one, 0, 5, 0) == 5);
  EXPECT(strstr(cleaveError(), "index is out of range"));
  EXPECT(runRows(one, 4, 3, 2) == 0);
  EXPECT(runRows(two, 0, 5, 0) != 0);
  EXPECT(runRows(two, 1, 1, 1) != 0);
}

int main(int argc, char **argv) {
  CleaveOptions options = {.threads = 1, .timeout = 5};
  CleaveModel *one = NULL, *two = NULL, *bad = NULL;
  EXPECT(argc == 3);
  EXPECT(cleaveOpen(argv[1], NULL, &one) == 0);
  EXPECT(cleaveOpen(argv[2], &options, &two) == 0);
  testFacts(one, 1);
  testFacts(two, 2);
  testAddresses(one);
  /* Processes run in the same order, so threads are for one process. */
  if (!getenv("OMPI_COMM_WORLD_RANK")) {
    testThreads(one, two);
    testFailure(one, two);
  } else {
    runMany(one);
    runMany(two);
    options.in_process = 1;
    EXPECT(cleaveOpen(argv[2], &options, &bad) == 0);
    EXPECT(cleaveRank(bad) == 0);
    runMany(bad);
    cleaveClose(bad);
  }
  options.threads = -1;
  EXPECT(cleaveOpen(argv[2], &options, &bad) == 2 && !bad);
  cleaveClose(two);
  cleaveClose(one);
  cleaveClose(NULL);
  return 0;
}

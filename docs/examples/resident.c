/*===- resident.c - keep a compiled model open and run it -------------------===
 *
 * usage: resident OUT RUNS INPUT.bin...
 *
 * Opens the folder OUT, reads one file of raw values for each input, runs the
 * model RUNS times and writes each output to NAME.bin. Build and start it:
 *
 *   cc resident.c -o resident -I OUT/include -L OUT/lib -lcleave_program \
 *      -Wl,-rpath,$PWD/OUT/lib
 *   ./resident OUT 10 x.bin                  all ranks are threads of it
 *   mpirun -n 4 ./resident OUT 10 x.bin      each process is a rank
 *
 *===------------------------------------------------------------------------===*/

#include <cleave.h>

#include <stdio.h>
#include <stdlib.h>

/* Ends with the code and the words of what has failed. */
static void check(int code) {
  if (code == 0)
    return;
  fprintf(stderr, "resident: %s\n", cleaveError());
  exit(code);
}

static void print(const char *what, const CleaveTensor *tensor) {
  printf("%s %s %s [", what, tensor->name, tensor->dtype);
  for (int32_t i = 0; i < tensor->rank; ++i)
    printf("%s%lld", i ? ", " : "", (long long)tensor->shape[i]);
  printf("]\n");
}

/* Memory for a tensor; an empty one has an address, too. */
static void *allocate(const CleaveTensor *tensor) {
  void *memory = calloc(tensor->bytes + 1, 1);
  if (!memory) {
    fprintf(stderr, "resident: no memory for %s\n", tensor->name);
    exit(7);
  }
  return memory;
}

static void *readFile(const char *path, const CleaveTensor *tensor) {
  void *memory = allocate(tensor);
  FILE *file = fopen(path, "rb");
  if (!file || fread(memory, 1, tensor->bytes, file) != tensor->bytes) {
    fprintf(stderr, "resident: %s does not hold %zu bytes\n", path,
            tensor->bytes);
    exit(5);
  }
  fclose(file);
  return memory;
}

static void writeFile(const CleaveTensor *tensor, const void *memory) {
  char path[256];
  snprintf(path, sizeof(path), "%s.bin", tensor->name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(memory, 1, tensor->bytes, file) != tensor->bytes ||
      fclose(file) != 0) {
    fprintf(stderr, "resident: cannot write %s\n", path);
    exit(7);
  }
}

int main(int argc, char **argv) {
  CleaveModel *model = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: resident OUT RUNS INPUT.bin...\n");
    return 2;
  }
  check(cleaveOpen(argv[1], NULL, &model));

  int32_t inputCount = cleaveInputCount(model);
  int32_t outputCount = cleaveOutputCount(model);
  int isFirst = cleaveRank(model) == 0;
  if (argc != 3 + inputCount) {
    fprintf(stderr, "resident: the model has %d inputs\n", (int)inputCount);
    return 2;
  }
  void **inputs = calloc(inputCount + 1, sizeof(void *));
  void **outputs = calloc(outputCount + 1, sizeof(void *));
  for (int32_t i = 0; i < inputCount; ++i)
    inputs[i] = readFile(argv[3 + i], cleaveInput(model, i));
  for (int32_t i = 0; i < outputCount; ++i)
    outputs[i] = allocate(cleaveOutput(model, i));

  for (int run = 0; run < atoi(argv[2]); ++run)
    check(cleaveRun(model, (const void *const *)inputs, outputs));

  for (int32_t i = 0; i < inputCount; ++i) {
    if (isFirst)
      print("input", cleaveInput(model, i));
    free(inputs[i]);
  }
  for (int32_t i = 0; i < outputCount; ++i) {
    if (isFirst) {
      print("output", cleaveOutput(model, i));
      writeFile(cleaveOutput(model, i), outputs[i]);
    }
    free(outputs[i]);
  }
  free(inputs);
  free(outputs);
  cleaveClose(model);
  return 0;
}

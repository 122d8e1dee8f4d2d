//===- Composite.td - ops that keep their own kernels ---------------------===//
#ifndef CLEAVE_COMPOSITE
#define CLEAVE_COMPOSITE

include "OpBase.td"

def AttentionOp : Cleave_TensorOp<"attention"> {
  let summary = "softmax(scale * q k^T + mask) v, without the score matrix";
  let description = [{
    q: [B, H, S, D]; k: [B, G, T, D]; v: [B, G, T, E]; mask (added to the scores):
    [B or 1, H or 1, S or 1, T]; result: [B, H, S, E]. G divides H: head h reads
    group h / (H / G). `causal`: query s sees keys up to s + T - S.

    Constraints:
    * all operands have rank 4 and one element type; sizes agree as above.
  }];
  let arguments = (ins StaticTensor:$q, StaticTensor:$k, StaticTensor:$v,
                       Optional<StaticTensor>:$mask, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs StaticTensor:$result);
}

def SoftmaxOp : Cleave_TensorOp<"softmax", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "softmax along dim; `log`: its logarithm";
  let arguments = (ins StaticTensor:$x, I64Attr:$dim, UnitAttr:$log);
  let results = (outs StaticTensor:$result);
}

def NormOp : Cleave_TensorOp<"norm", [AttrSizedOperandSegments]> {
  let summary = "layer or root-mean-square norm over the dims from `axis` on";
  let description = [{
    layer: (x - mean) / sqrt(var + epsilon) * scale + bias; rms: x / sqrt(mean(x^2) +
    epsilon) * scale (+ bias). scale and bias have the shape of the normalised dims.
    The variance is biased, as in ONNX LayerNormalization.

    Constraints:
    * 0 <= axis < rank; scale and bias have the shape of dims [axis, rank).
  }];
  let arguments = (ins NormKindAttr:$kind, StaticTensor:$x, Optional<StaticTensor>:$scale,
                       Optional<StaticTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

def CrossEntropyOp : Cleave_TensorOp<"cross_entropy", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "loss[i] = logsumexp(logits[i, :]) - logits[i, labels[i]]";
  let description = [{
    logits: [n..., c] float; labels: [n...] i32 or i64; result: [n...]. A label equal to
    `ignore_index` gives 0.
    Constraints:
    * the leading dims of logits are those of labels.
  }];
  let arguments = (ins StaticTensor:$logits, StaticTensor:$labels,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs StaticTensor:$result);
}

def CrossEntropyGradOp : Cleave_TensorOp<"cross_entropy_grad"> {
  let summary = "gradient of cross_entropy: (softmax(logits) - onehot(labels)) * dloss";
  let description = [{
    dloss: [n...]; result: [n..., c]; 0 where the label is `ignore_index`.
    Constraints:
    * shapes as for cross_entropy.
  }];
  let arguments = (ins StaticTensor:$logits, StaticTensor:$labels, StaticTensor:$dloss,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs StaticTensor:$result);
}

#endif
